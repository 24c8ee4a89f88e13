package admission_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// at is a path into a resource.
func at(steps ...any) []any { return steps }

func TestCreateNamesTheInvalidField(t *testing.T) {
	schemas := schemas(t)
	listeners := at("spec", "kafka", "listeners")
	volumes := at("spec", "storage", "volumes")
	tests := map[string]struct {
		base  string
		path  []any
		value string
		want  string
	}{
		"unknown field of the cluster":         {goodKafka, at("spec", "kafka", "versions"), "4.1.1", `spec.kafka.versions: Forbidden: unknown field`},
		"unknown field of the spec":            {goodKafka, at("spec", "kafak"), "{}", `spec.kafak: Forbidden: unknown field`},
		"unknown field of a listener":          {goodKafka, append(listeners, 0, "ports"), "1", `spec.kafka.listeners[0].ports: Forbidden: unknown field`},
		"unknown field of metadata":            {goodKafka, at("metadata", "label"), "{}", `metadata.label: Forbidden: unknown field`},
		"unknown field of a template":          {goodPool, at("spec", "template"), "{pods: {}}", `spec.template.pods: Forbidden: unknown field`},
		"no metadata":                          {goodKafka, at("metadata"), "", `metadata.name: Required value`},
		"no kafka section":                     {goodKafka, at("spec", "kafka"), "", `spec.kafka: Required value`},
		"no listeners":                         {goodKafka, at("spec", "kafka", "listeners"), "", `spec.kafka.listeners: Required value`},
		"empty listeners":                      {goodKafka, listeners, "[]", `spec.kafka.listeners: Invalid value: 0: spec.kafka.listeners in body should have at least 1 items`},
		"listeners with the same port":         {goodKafka, append(listeners, 1, "port"), "9092", `spec.kafka.listeners: Invalid value: listener ports must be unique`},
		"listeners with the same name":         {goodKafka, append(listeners, 1, "name"), "plain", `spec.kafka.listeners[1]: Duplicate value`},
		"listener named like the brokers' own": {goodKafka, append(listeners, 0, "name"), "replication", `spec.kafka.listeners[0].name: Forbidden: replication and ctrlplane are the nodes' own listeners`},
		"listener named like the quorum's":     {goodKafka, append(listeners, 0, "name"), "ctrlplane", `spec.kafka.listeners[0].name: Forbidden: replication and ctrlplane`},
		"listener port below the allowed":      {goodKafka, append(listeners, 0, "port"), "9091", `spec.kafka.listeners[0].port: Invalid value: 9091`},
		"listener port above the last":         {goodKafka, append(listeners, 0, "port"), "65536", `spec.kafka.listeners[0].port: Invalid value: 65536`},
		"listener port taken by metrics":       {goodKafka, append(listeners, 0, "port"), "9404", `spec.kafka.listeners[0].port: Forbidden: ports 9404`},
		"listener port taken by JMX":           {goodKafka, append(listeners, 0, "port"), "9999", `spec.kafka.listeners[0].port: Forbidden: ports 9404`},
		"listener port as text":                {goodKafka, append(listeners, 0, "port"), `"9092"`, `spec.kafka.listeners[0].port: Invalid value: "string"`},
		"listener name in capitals":            {goodKafka, append(listeners, 0, "name"), "Plain", `spec.kafka.listeners[0].name: Invalid value: "Plain": "Plain" is not a listener name`},
		"listener name too long":               {goodKafka, append(listeners, 0, "name"), "abcdefghijkl", `spec.kafka.listeners[0].name: Invalid value: "abcdefghijkl": "abcdefghijkl" is not a listener name`},
		"listener of no known type":            {goodKafka, append(listeners, 0, "type"), "external", `spec.kafka.listeners[0].type: Unsupported value: "external"`},
		"listener without tls":                 {goodKafka, append(listeners, 0, "tls"), "", `spec.kafka.listeners[0].tls: Required value`},
		"version that is a number":             {goodKafka, at("spec", "kafka", "version"), "4.1", `spec.kafka.version: Invalid value: "number"`},
		"version without a patch":              {goodKafka, at("spec", "kafka", "version"), `"4.1"`, `spec.kafka.version: Invalid value: "4.1": "4.1" is not a version of Kafka`},
		"version with a plus sign":             {goodKafka, at("spec", "kafka", "version"), "4.1.1+build", `spec.kafka.version: Invalid value: "4.1.1+build": "4.1.1+build" is not a version of Kafka`},
		"version that is a word":               {goodKafka, at("spec", "kafka", "version"), "latest", `spec.kafka.version: Invalid value: "latest": "latest" is not a version of Kafka`},
		"version with a leading v":             {goodKafka, at("spec", "kafka", "version"), "v4.1.1", `spec.kafka.version: Invalid value: "v4.1.1": "v4.1.1" is not a version of Kafka`},
		"metadata version that is a word":      {goodKafka, at("spec", "kafka", "metadataVersion"), "wrong", `spec.kafka.metadataVersion: Invalid value: "wrong": "wrong" is not a metadata version`},
		"metadata version with two levels":     {goodKafka, at("spec", "kafka", "metadataVersion"), "4.2-IV1-IV0", `spec.kafka.metadataVersion: Invalid value: "4.2-IV1-IV0": "4.2-IV1-IV0" is not a metadata version`},
		"image with a space":                   {goodKafka, at("spec", "kafka", "image"), `"apache/kafka :4.1.1"`, `spec.kafka.image: Invalid value`},
		"empty image of a version":             {goodKafka, at("spec", "kafka", "images"), `{4.1.1: ""}`, `spec.kafka.images.4.1.1: Invalid value`},
		"config that is a list":                {goodKafka, at("spec", "kafka", "config"), "[a, b]", `spec.kafka.config: Invalid value: "array"`},
		"rack that is a word":                  {goodKafka, at("spec", "kafka", "rack"), "zone", `spec.kafka.rack: Invalid value: "string"`},
		"rack without a label":                 {goodKafka, at("spec", "kafka", "rack"), "{}", `spec.kafka.rack.topologyKey: Required value`},
		"rack by what is no label":             {goodKafka, at("spec", "kafka", "rack"), "{topologyKey: 'a zone'}", `spec.kafka.rack.topologyKey: Invalid value`},
		"heap with a unit that Java lacks":     {goodKafka, at("spec", "kafka", "jvmOptions"), "{-Xmx: 2Gi}", `spec.kafka.jvmOptions.-Xmx: Invalid value: "2Gi": "2Gi" is not a heap size`},
		"memory that is not a quantity":        {goodKafka, at("spec", "kafka", "resources"), "{limits: {memory: lots}}", `spec.kafka.resources.limits.memory: Invalid value: "lots"`},
		"renewal before the certificate":       {goodKafka, at("spec", "clusterCa"), "{validityDays: 30, renewalDays: 30}", `spec.clusterCa.renewalDays: Invalid value: renewalDays must be less`},
		"expiration policy that is not known":  {goodKafka, at("spec", "clusterCa"), "{certificateExpirationPolicy: keep}", `spec.clusterCa.certificateExpirationPolicy: Unsupported value`},
		"cluster name too long for a Service":  {goodKafka, at("metadata", "name"), strings.Repeat("a", 48), `metadata.name must start with a letter`},
		"cluster name with a dot":              {goodKafka, at("metadata", "name"), "my.cluster", `metadata.name must start with a letter`},
		"cluster name with a digit first":      {goodKafka, at("metadata", "name"), "1st", `metadata.name must start with a letter`},
		"pool name with a dot":                 {goodPool, at("metadata", "name"), "my.pool", `metadata.name must hold only`},
		"negative replicas":                    {goodPool, at("spec", "replicas"), "-1", `spec.replicas: Invalid value: -1`},
		"replicas left out":                    {goodPool, at("spec", "replicas"), "", `spec.replicas: Required value`},
		"half a replica":                       {goodPool, at("spec", "replicas"), "1.5", `spec.replicas: Invalid value: "float64"`},
		"no roles":                             {goodPool, at("spec", "roles"), "[]", `spec.roles: Invalid value: 0: spec.roles in body should have at least 1 items`},
		"a role that Kafka does not have":      {goodPool, at("spec", "roles"), "[zookeeper]", `spec.roles[0]: Unsupported value: "zookeeper"`},
		"the same role twice":                  {goodPool, at("spec", "roles"), "[broker, broker]", `spec.roles[1]: Duplicate value: "broker"`},
		"two volumes for the metadata log":     {goodPool, append(volumes, 1, "kraftMetadata"), "shared", `spec.storage.volumes: Invalid value: at most one volume`},
		"two volumes with one id":              {goodPool, append(volumes, 1, "id"), "0", `spec.storage.volumes[1]: Duplicate value`},
		"volume without an id":                 {goodPool, append(volumes, 1, "id"), "", `spec.storage.volumes[1].id: Required value`},
		"volume with a negative id":            {goodPool, append(volumes, 1, "id"), "-1", `spec.storage.volumes[1].id: Invalid value: -1`},
		"volume of no known type":              {goodPool, append(volumes, 1, "type"), "tmpfs", `spec.storage.volumes[1].type: Unsupported value: "tmpfs"`},
		"persistent volume without a size":     {goodPool, append(volumes, 1, "size"), "", `spec.storage.volumes[1].size: Invalid value: size is required`},
		"size that is not a quantity":          {goodPool, append(volumes, 1, "size"), "10GB", `spec.storage.volumes[1].size: Invalid value: "10GB": "10GB" is not a size`},
		"size of nothing":                      {goodPool, append(volumes, 1, "size"), `"0.0Gi"`, `spec.storage.volumes[1].size: Invalid value: "0.0Gi": "0.0Gi" is not a size: write a number above 0`},
		"no storage":                           {goodPool, at("spec", "storage"), "", `spec.storage: Required value`},
		"jbod without volumes":                 {goodPool, at("spec", "storage"), "{type: jbod}", `spec.storage.volumes: Invalid value: volumes must be given for type jbod`},
		"jbod with no volume in the list":      {goodPool, volumes, "[]", `spec.storage.volumes: Invalid value: volumes must be given for type jbod`},
		"single storage with a list":           {goodPool, at("spec", "storage", "type"), "ephemeral", `spec.storage.volumes: Invalid value: volumes must be given for type jbod`},
		"single persistent storage, no size":   {goodPool, at("spec", "storage"), "{type: persistent-claim}", `spec.storage.size: Invalid value: size is required`},
		"pod set without pods":                 {goodPodSet, at("spec", "pods"), "", `spec.pods: Required value`},
		"pod set with a pod that is a word":    {goodPodSet, at("spec", "pods"), "[pod]", `spec.pods[0]: Invalid value: "string"`},
		"pod set with a name nobody knows":     {goodPodSet, at("spec", "replicas"), "3", `spec.replicas: Forbidden: unknown field`},
		"kind that does not exist":             {goodKafka, at("kind"), "Kafak", `kind: Invalid value: "Kafak": no such kind`},
		"version that is not served":           {goodKafka, at("apiVersion"), "kafka.strimzi.io/v1alpha1", `kind: Invalid value: "Kafka": no such kind`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			resource := edit(t, test.base, test.value, test.path...)
			refused(t, schemas.Create(t.Context(), resource).ToAggregate(), test.want)
			if resource.GetAPIVersion() == "kafka.strimzi.io/v1beta2" {
				resource.SetAPIVersion("kafka.strimzi.io/v1")
				refused(t, schemas.Create(t.Context(), resource).ToAggregate(), test.want)
			}
		})
	}
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("taken, want a refusal with %q", want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("refused with %q\nwant %q", err, want)
	}
}

func TestCreateAcceptsValidInput(t *testing.T) {
	schemas := schemas(t)
	tests := map[string]*unstructured.Unstructured{
		"cluster":                           parse(t, goodKafka),
		"pool":                              parse(t, goodPool),
		"pool with a single volume":         parse(t, singleVolumePool),
		"pod set":                           parse(t, goodPodSet),
		"no version":                        edit(t, goodKafka, "", "spec", "kafka", "version"),
		"no metadata version":               edit(t, goodKafka, "", "spec", "kafka", "metadataVersion"),
		"metadata version in short":         edit(t, goodKafka, `"4.1"`, "spec", "kafka", "metadataVersion"),
		"a build of one's own":              edit(t, goodKafka, "4.1.1-acme-2", "spec", "kafka", "version"),
		"an image for a version":            edit(t, goodKafka, "{4.1.1: 'registry.example.com:5000/kafka@sha256:abc'}", "spec", "kafka", "images"),
		"the longest cluster name":          edit(t, goodKafka, strings.Repeat("a", 47), "metadata", "name"),
		"no nodes":                          edit(t, goodPool, "0", "spec", "replicas"),
		"both roles":                        edit(t, goodPool, "[controller, broker]", "spec", "roles"),
		"ephemeral storage":                 edit(t, goodPool, "{type: ephemeral}", "spec", "storage"),
		"replicas left over in the cluster": edit(t, goodKafka, "3", "spec", "kafka", "replicas"),
		"storage left over in the cluster":  edit(t, goodKafka, "{type: ephemeral}", "spec", "kafka", "storage"),
		"null where nothing is meant":       edit(t, goodKafka, "null", "spec", "kafka", "rack"),
		"an unused field with anything":     edit(t, goodKafka, "{pod: {affinity: {nodeAffinity: {}}}}", "spec", "kafka", "template"),
	}
	for name, resource := range tests {
		t.Run(name, func(t *testing.T) {
			if err := schemas.Create(t.Context(), resource).ToAggregate(); err != nil {
				t.Error(err)
			}
		})
	}
}
