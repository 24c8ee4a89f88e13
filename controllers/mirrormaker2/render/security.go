package render

import (
	"encoding/json"
	"strings"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// credentialsPath is the folder in which the Secrets are mounted, one folder for each alias.
const credentialsPath = "/opt/kafka/credentials"

// ReasonUnsupported is the reason of a spec that requests what is not supported.
const ReasonUnsupported transitions.Reason = "UnsupportedSecurity"

// login is how the clients of a cluster authenticate.
type login struct {
	Type           string `json:"type"`
	Username       string `json:"username"`
	PasswordSecret struct {
		SecretName string `json:"secretName"`
		Password   string `json:"password"`
	} `json:"passwordSecret"`
}

// modules are the login modules by the type of the authentication, with their mechanism.
var modules = map[string][2]string{
	"scram-sha-512": {"org.apache.kafka.common.security.scram.ScramLoginModule", "SCRAM-SHA-512"},
	"scram-sha-256": {"org.apache.kafka.common.security.scram.ScramLoginModule", "SCRAM-SHA-256"},
	"plain":         {"org.apache.kafka.common.security.plain.PlainLoginModule", "PLAIN"},
}

// loginOf returns how the clients of the cluster authenticate; nil if they do not.
func loginOf(c *kafkav1beta2.MirrorMaker2Cluster) (*login, *transitions.Problem) {
	if c.TLS != nil {
		return nil, transitions.Problemf(ReasonUnsupported, "cluster %s has tls, which is not supported yet: workers are neither created nor changed. Use a listener without TLS.", c.Alias)
	}
	if c.Authentication == nil {
		return nil, nil
	}
	l := &login{}
	if err := json.Unmarshal(c.Authentication.Raw, l); err != nil {
		return nil, transitions.Problemf(ReasonUnsupported, "the authentication of cluster %s cannot be read: its fields must be texts", c.Alias)
	}
	switch {
	case l.Type == "":
		return nil, nil
	case modules[l.Type][0] == "":
		return nil, transitions.Problemf(ReasonUnsupported, "cluster %s has authentication of type %q, which is not supported: use scram-sha-512, scram-sha-256 or plain", c.Alias, l.Type)
	case l.Username == "" || l.PasswordSecret.SecretName == "" || l.PasswordSecret.Password == "":
		return nil, transitions.Problemf(ReasonUnsupported, "the authentication of cluster %s is incomplete: give username, passwordSecret.secretName and passwordSecret.password", c.Alias)
	case strings.ContainsAny(l.Username, "\"\\\n"), strings.ContainsAny(l.PasswordSecret.Password, "/}\n"):
		return nil, transitions.Problemf(ReasonUnsupported, "the authentication of cluster %s has characters that a configuration cannot hold", c.Alias)
	}
	return l, nil
}

// properties returns how clients connect. The password is a reference that the worker resolves from the mounted Secret, so that neither
// the ConfigMap nor the configuration of a connector contains it.
func (l *login) properties(alias string) map[string]string {
	if l == nil {
		return map[string]string{"security.protocol": "PLAINTEXT"}
	}
	module := modules[l.Type]
	return map[string]string{
		"security.protocol": "SASL_PLAINTEXT",
		"sasl.mechanism":    module[1],
		"sasl.jaas.config":  module[0] + ` required username="` + l.Username + `" password="${dir:` + credentialsPath + "/" + alias + ":" + l.PasswordSecret.Password + `}";`,
	}
}
