package authority

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"
)

func TestServerIsTrustedOnlyUnderItsNames(t *testing.T) {
	now := time.Now()
	a, err := New(now)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := a.Server("api", "10.1.2.3", "api.example.org")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(loaded.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(a.PEM()) {
		t.Fatal("the authority's own certificate cannot be read")
	}
	for name, want := range map[string]bool{
		"10.1.2.3": true, "127.0.0.1": true, "localhost": true, "api.example.org": true, "10.1.2.4": false, "example.org": false,
	} {
		_, err := cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now})
		if (err == nil) != want {
			t.Errorf("as %s it is trusted: %v, want %t", name, err, want)
		}
	}
}
