package admin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	simulated "github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kafka/wire"
)

// certificate returns a certificate that is valid for the name, and the pool that trusts it.
func certificate(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestClientTLS uses both libraries over TLS: sarama lists the brokers, franz-go describes
// the quorum and unregisters.
func TestClientTLS(t *testing.T) {
	const host = "node-1.kafka.test"
	good, trusted := certificate(t, host)
	_, strangers := certificate(t, host)
	other, otherTrusted := certificate(t, "elsewhere.kafka.test")
	cases := map[string]struct {
		server tls.Certificate
		client *tls.Config
		works  bool
	}{
		"trusted":                        {good, &tls.Config{RootCAs: trusted}, true},
		"another authority":              {good, &tls.Config{RootCAs: strangers}, false},
		"another name":                   {other, &tls.Config{RootCAs: otherTrusted}, false},
		"another name that was expected": {other, &tls.Config{RootCAs: otherTrusted, ServerName: "elsewhere.kafka.test"}, true},
		"no TLS at all":                  {good, nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := simulated.New("a-cluster", []simulated.Binary{{Version: "4.1.2"}}, simulated.DefaultSettings())
			c.SetVoters(1)
			start(t, c, 1, "4.1.2")
			c.Tick(60_000)
			server, err := wire.NewServer(c, &tls.Config{Certificates: []tls.Certificate{tc.server}})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			client, err := admin.New(admin.Options{
				Bootstrap: server.Bootstrap(), Dial: server.DialContext, TLS: tc.client,
				Timeout: time.Second, AttemptTimeout: 300 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, brokersErr := client.Brokers(t.Context())
			_, quorumErr := client.Quorum(t.Context())
			unregisterErr := client.UnregisterBroker(t.Context(), 77)
			_, refused := kafka.AsRefused(unregisterErr)
			if brokers, quorum := brokersErr == nil, quorumErr == nil; brokers != tc.works || quorum != tc.works || refused != tc.works {
				t.Errorf("works: brokers %v, quorum %v, unregister %v; want %v\n%v\n%v\n%v", brokers, quorum, refused, tc.works, brokersErr, quorumErr, unregisterErr)
			}
		})
	}
}
