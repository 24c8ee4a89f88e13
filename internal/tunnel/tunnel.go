// Package tunnel connects through an HTTP proxy, for a manager outside the pod network.
package tunnel

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Through returns a dialer that connects by the CONNECT method of an HTTP proxy, for names that resolve only behind
// the proxy. Its errors name the proxy; the caller adds the address.
func Through(proxy string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, proxy)
		if err != nil {
			return nil, fmt.Errorf("reaching the proxy %s: %w", proxy, err)
		}
		if err := connect(ctx, conn, address); err != nil {
			_ = conn.Close() // the first error is the one to return
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
	// A server of these protocols sends nothing before it receives a request, so that the discarded buffer contains no bytes of it.
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
