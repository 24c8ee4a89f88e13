package wire

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

// Answer returns the response of the broker via to a request, at the version of the request. An error means that
// no response is sent: kafka.ErrUnreachable if the request did not arrive, kafka.ErrNoAnswer if it may have been
// executed, any other if the broker closes the connection, as it does for a version that it does not support.
func Answer(c *kafka.Cluster, via int32, request kmsg.Request) (kmsg.Response, error) {
	if !c.Answers(via) {
		return nil, kafka.ErrUnreachable
	}
	n, _ := c.Node(via)
	newest := c.Binaries[n.Binary].MaxVersion(nameOf(request))
	if r, ok := request.(*kmsg.ApiVersionsRequest); ok && r.Version > newest {
		return oldVersions(newest), nil
	}
	if request.GetVersion() > newest {
		return nil, fmt.Errorf("answering request %d: version %d is above %d", request.Key(), request.GetVersion(), newest)
	}
	switch r := request.(type) {
	case *kmsg.ApiVersionsRequest:
		return apiVersions(c, via, r)
	case *kmsg.MetadataRequest:
		return metadata(c, via, r)
	case *kmsg.DescribeClusterRequest:
		return describeCluster(c, via, r)
	case *kmsg.DescribeQuorumRequest:
		return describeQuorum(c, via, r)
	case *kmsg.DescribeLogDirsRequest:
		return describeLogDirs(c, via, r)
	case *kmsg.DescribeConfigsRequest:
		return describeConfigs(c, via, r)
	case *kmsg.UpdateFeaturesRequest:
		return updateFeatures(c, via, r)
	case *kmsg.UnregisterBrokerRequest:
		return unregisterBroker(c, via, r)
	case *kmsg.AlterPartitionAssignmentsRequest:
		return reassign(c, via, r)
	case *kmsg.ListPartitionReassignmentsRequest:
		return reassignments(c, via, r)
	case *kmsg.IncrementalAlterConfigsRequest:
		return alterConfigs(c, via, r)
	case *kmsg.CreateTopicsRequest:
		return createTopics(c, via, r)
	case *kmsg.CreatePartitionsRequest:
		return createPartitions(c, via, r)
	default:
		return nil, fmt.Errorf("answering request %d: the model does not implement it", request.Key())
	}
}

// AnswerAtController returns the response of a controller to a request at its own listener. The errors are those
// of Answer.
func AnswerAtController(c *kafka.Cluster, at int32, request kmsg.Request) (kmsg.Response, error) {
	if !c.ControllerAnswers(at) {
		return nil, kafka.ErrUnreachable
	}
	n, _ := c.Node(at)
	binary := c.Binaries[n.Binary]
	newest := binary.MaxVersion(nameOf(request))
	if r, ok := request.(*kmsg.ApiVersionsRequest); ok && r.Version > newest {
		return oldVersions(newest), nil
	}
	if request.GetVersion() > newest {
		return nil, fmt.Errorf("answering request %d: version %d is above %d", request.Key(), request.GetVersion(), newest)
	}
	switch r := request.(type) {
	case *kmsg.ApiVersionsRequest:
		resp := r.ResponseKind().(*kmsg.ApiVersionsResponse)
		for _, known := range []kafka.Request{kafka.RequestAPIVersions, kafka.RequestDescribeQuorum, kafka.RequestDescribeCluster} {
			resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: keyOf(known), MaxVersion: binary.MaxVersion(known)})
		}
		return resp, nil
	case *kmsg.DescribeClusterRequest:
		return describeControllers(c, at, r)
	case *kmsg.DescribeQuorumRequest:
		q, err := c.DescribeQuorumAt(at)
		return quorumResponse(r, q, err)
	default:
		return nil, fmt.Errorf("answering request %d: the model of a controller does not implement it", request.Key())
	}
}

// nameOf returns the model's name of the request, which is that of the protocol.
func nameOf(request kmsg.Request) kafka.Request {
	return kafka.Request(kmsg.NameForKey(request.Key()))
}

// oldVersions is the response that reports which version of ApiVersions the broker supports.
func oldVersions(newest int16) kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = client.CodeUnsupportedVersion
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: int16(kmsg.ApiVersions), MaxVersion: newest}}
	return resp
}

func apiVersions(c *kafka.Cluster, via int32, r *kmsg.ApiVersionsRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.ApiVersionsResponse)
	if r.Version >= 3 && (r.ClientSoftwareName == "" || r.ClientSoftwareVersion == "") {
		resp.ErrorCode = client.CodeInvalidRequest
		return resp, nil
	}
	a, err := c.APIVersions(via, r.Version)
	if code, _, err := refusal(err); err != nil || code != 0 {
		resp.ErrorCode = code
		return resp, err
	}
	for _, request := range kafka.Requests() {
		if newest := a.Binary.MaxVersion(request); newest >= 0 {
			resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: keyOf(request), MaxVersion: newest})
		}
	}
	for _, f := range a.Supported {
		s := kmsg.NewApiVersionsResponseSupportedFeature()
		s.Name, s.MinVersion, s.MaxVersion = f.Name, f.Min, f.Max
		resp.SupportedFeatures = append(resp.SupportedFeatures, s)
	}
	resp.FinalizedFeaturesEpoch = a.Epoch
	for _, f := range a.Finalized {
		l := kmsg.NewApiVersionsResponseFinalizedFeature()
		l.Name, l.MinVersionLevel, l.MaxVersionLevel = f.Name, f.Level, f.Level
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, l)
	}
	return resp, nil
}

// keyOf returns the number of a request in the protocol.
func keyOf(request kafka.Request) int16 {
	switch request {
	case kafka.RequestMetadata:
		return int16(kmsg.Metadata)
	case kafka.RequestAPIVersions:
		return int16(kmsg.ApiVersions)
	case kafka.RequestDescribeConfigs:
		return int16(kmsg.DescribeConfigs)
	case kafka.RequestDescribeLogDirs:
		return int16(kmsg.DescribeLogDirs)
	case kafka.RequestDescribeQuorum:
		return int16(kmsg.DescribeQuorum)
	case kafka.RequestUpdateFeatures:
		return int16(kmsg.UpdateFeatures)
	case kafka.RequestDescribeCluster:
		return int16(kmsg.DescribeCluster)
	case kafka.RequestUnregisterBroker:
		return int16(kmsg.UnregisterBroker)
	case kafka.RequestAlterConfigs:
		return int16(kmsg.IncrementalAlterConfigs)
	case kafka.RequestReassign:
		return int16(kmsg.AlterPartitionAssignments)
	case kafka.RequestReassignments:
		return int16(kmsg.ListPartitionReassignments)
	case kafka.RequestCreateTopics:
		return int16(kmsg.CreateTopics)
	case kafka.RequestCreatePartitions:
		return int16(kmsg.CreatePartitions)
	default:
		return -1
	}
}

// refusal splits an outcome of the model into a code and message to send, and an error because of which no
// response is sent.
func refusal(err error) (int16, *string, error) {
	r, ok := errors.AsType[*client.Refused](err)
	switch {
	case !ok:
		return 0, nil, err
	case r.Message == "":
		return r.Code, nil, nil
	default:
		return r.Code, &r.Message, nil
	}
}

func updateFeatures(c *kafka.Cluster, via int32, r *kmsg.UpdateFeaturesRequest) (kmsg.Response, error) {
	var updates []kafka.FeatureUpdate
	for _, u := range r.FeatureUpdates {
		kind := kafka.UpgradeOnly
		if r.Version >= 1 {
			kind = kafka.UpgradeType(u.UpgradeType)
		}
		updates = append(updates, kafka.FeatureUpdate{Name: u.Feature, Level: u.MaxVersionLevel, Type: kind})
	}
	results, err := c.UpdateFeatures(via, updates, r.Version >= 1 && r.ValidateOnly)
	resp := r.ResponseKind().(*kmsg.UpdateFeaturesResponse)
	resp.ErrorCode, resp.ErrorMessage, err = refusal(err)
	if err != nil {
		return nil, err
	}
	for _, result := range results {
		out := kmsg.NewUpdateFeaturesResponseResult()
		out.Feature = result.Name
		if result.Refused != nil {
			out.ErrorCode, out.ErrorMessage = result.Refused.Code, &result.Refused.Message
		}
		if r.Version <= 1 {
			resp.Results = append(resp.Results, out)
		}
	}
	return resp, nil
}

func unregisterBroker(c *kafka.Cluster, via int32, r *kmsg.UnregisterBrokerRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.UnregisterBrokerResponse)
	var err error
	resp.ErrorCode, resp.ErrorMessage, err = refusal(c.UnregisterBroker(via, r.BrokerID))
	if err != nil {
		return nil, err
	}
	return resp, nil
}
