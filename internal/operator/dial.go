package operator

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// throughProxy connects by the CONNECT method of an HTTP proxy, for brokers whose names only mean something behind it. Its errors
// leave it to the caller to say to where.
func throughProxy(proxy string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, proxy)
		if err != nil {
			return nil, fmt.Errorf("reaching the proxy %s: %w", proxy, err)
		}
		if err := connect(ctx, conn, address); err != nil {
			_ = conn.Close() // the failure is the news
			return nil, fmt.Errorf("through the proxy %s: %w", proxy, err)
		}
		return conn, nil
	}
}

func connect(ctx context.Context, conn net.Conn, address string) error {
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address); err != nil {
		return err
	}
	// A broker does not speak before it is spoken to, so that nothing of its own can be in the buffer.
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy answered %s", response.Status)
	}
	return conn.SetDeadline(time.Time{})
}
