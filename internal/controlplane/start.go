package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/detent-dev/detent/internal/controlplane/child"
)

const (
	pollEvery = 50 * time.Millisecond
	// portTries is the number of start attempts with different ports if another
	// process takes the free port in the meantime.
	portTries = 3
)

// launch starts a server on a port and returns its readiness check.
type launch func(port int) (p *child.Process, ready func(context.Context) error, err error)

func (c *ControlPlane) startEtcd(ctx context.Context) error {
	p, err := c.run(string(Etcd), c.options.Paths.Etcd, etcdArgs(c.dir))
	if err != nil {
		return err
	}
	// The API server's readiness includes further checks of etcd.
	err = c.await(ctx, p, func(context.Context) error {
		_, err := os.Stat(c.dir.file(etcdSocket))
		return err
	})
	if err != nil {
		return err
	}
	c.watch(p)
	return nil
}

func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	run := func(port int) (*child.Process, func(context.Context) error, error) {
		c.port = port
		admin, err := c.Config(AdminUser, mastersGroup)
		if err != nil {
			return nil, nil, err
		}
		c.admin = admin
		client, err := rest.HTTPClientFor(admin)
		if err != nil {
			return nil, nil, err
		}
		ready := func(ctx context.Context) error {
			_, err := get(ctx, client, c.URL()+"/readyz")
			return err
		}
		p, err := c.run(string(APIServer), c.options.Paths.APIServer, append(apiServerArgs(c.dir, port), c.options.APIServerArgs...))
		return p, ready, err
	}
	if err := c.startOnPort(ctx, c.options.Port, run); err != nil {
		return err
	}
	return c.writeKubeconfigs()
}

func (c *ControlPlane) startManager(ctx context.Context, path string) error {
	client, err := rest.HTTPClientFor(c.anonymous())
	if err != nil {
		return err
	}
	run := func(port int) (*child.Process, func(context.Context) error, error) {
		health := "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + "/healthz?verbose"
		ready := func(ctx context.Context) error { return started(ctx, client, health) }
		p, err := c.run(string(ControllerManager), path, append(managerArgs(c.dir, port), c.options.ControllerManagerArgs...))
		return p, ready, err
	}
	return c.startOnPort(ctx, 0, run)
}

// started returns an error unless every controller has started. The controller
// manager lists a controller in its health report once it has started.
func started(ctx context.Context, client *http.Client, url string) error {
	report, err := get(ctx, client, url)
	if err != nil {
		return err
	}
	for _, name := range controllers() {
		if !bytes.Contains(report, []byte("]"+name+" ok")) {
			return fmt.Errorf("%s has not started yet", name)
		}
	}
	return nil
}

// startOnPort runs a server on the requested port, or on a free one for 0. The
// server opens the port itself, so that another process can take it first; then
// the next free port is tried.
func (c *ControlPlane) startOnPort(ctx context.Context, asked int, run launch) error {
	for try := 1; ; try++ {
		port := asked
		if port == 0 {
			var err error
			if port, err = freePort(ctx); err != nil {
				return err
			}
		}
		p, ready, err := run(port)
		if err != nil {
			return err
		}
		err = c.await(ctx, p, ready)
		switch {
		case err == nil:
			c.watch(p)
			return nil
		case !strings.Contains(err.Error(), "address already in use"):
			return err
		case asked != 0:
			return fmt.Errorf("%w\nport %d on 127.0.0.1 is taken by another program: end it or choose another port", err, port)
		case try == portTries:
			return fmt.Errorf("%w\nno port stayed free in %d tries", err, try)
		}
	}
}

// freePort returns a port that is currently free.
func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("looking for a free port: %s is no TCP address", l.Addr())
	}
	return addr.Port, nil
}

// await calls ready repeatedly until it returns nil, p ends or ctx ends. The
// error in the last two cases contains the last error of ready and p's last lines.
func (c *ControlPlane) await(ctx context.Context, p *child.Process, ready func(context.Context) error) error {
	tick := c.options.Clock.NewTicker(pollEvery)
	defer tick.Stop()
	missing := errors.New("nothing was asked yet")
	// The process that holds the port of a failed server may never answer.
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.Done():
			cancel()
		case <-asking.Done():
		}
	}()
	for {
		select {
		case <-p.Done():
			return p.Err()
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (%w); its last lines:\n%s",
				p.Name(), context.Cause(ctx), missing, child.Tail(c.dir.file(p.Name()+".log")))
		case <-tick.C():
		}
		err := ready(asking)
		if err == nil {
			return nil
		}
		if asking.Err() == nil {
			missing = err
		}
	}
}

// get returns the body of a response with status 200, and an error for any other status.
func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %s", url, resp.Status, bytes.TrimSpace(body))
	}
	return body, nil
}
