package tunnel

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// echoProxy connects to one broker, which echoes what it receives, and to no other.
func echoProxy(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "broker-4.prod.svc:9091" {
			http.Error(w, "no such host", http.StatusBadGateway)
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		_, _ = io.Copy(conn, buffered)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestThrough(t *testing.T) {
	dial := Through(echoProxy(t))
	conn, err := dial(t.Context(), "tcp", "broker-4.prod.svc:9091")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(conn).ReadString('\n'); err != nil || got != "hello\n" {
		t.Errorf("%q, %v: want what was said", got, err)
	}
}

func TestThroughFailures(t *testing.T) {
	proxy := echoProxy(t)
	if _, err := Through(proxy)(t.Context(), "tcp", "broker-9.prod.svc:9091"); err == nil ||
		err.Error() != "through the proxy "+proxy+": the proxy answered 502 Bad Gateway" {
		t.Errorf("a broker that is not there gives %v", err)
	}

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Through(address)(ctx, "tcp", "broker-4.prod.svc:9091"); err == nil { // it accepts and says nothing
		t.Error("a proxy that does not answer gives no error")
	}
	listener.Close()
	if _, err := Through(address)(t.Context(), "tcp", "broker-4.prod.svc:9091"); err == nil || !strings.Contains(err.Error(), "reaching the proxy "+address) {
		t.Errorf("a proxy that is not there gives %v", err)
	}
}
