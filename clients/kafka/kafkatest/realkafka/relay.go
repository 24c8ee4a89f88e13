package realkafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// relay forwards connections to a controller's listener, and cuts them by the node that opened them. The nodes know only the
// relay's address of the controller.
type relay struct {
	listener net.Listener
	target   string
	done     sync.WaitGroup

	mu    sync.Mutex
	cut   map[int32]bool
	conns map[net.Conn]int32
}

// newRelay listens on a loopback port and forwards to the controller at controllerPort.
func newRelay(ctx context.Context, port, controllerPort int) (*relay, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return nil, fmt.Errorf("relaying to a controller: %w", err)
	}
	r := &relay{listener: listener, target: "127.0.0.1:" + strconv.Itoa(controllerPort), cut: map[int32]bool{}, conns: map[net.Conn]int32{}}
	r.done.Go(r.accept)
	return r, nil
}

func (r *relay) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		r.done.Go(func() { r.serve(conn) })
	}
}

// serve forwards one connection after its first request has identified the node that opened it.
func (r *relay) serve(conn net.Conn) {
	const unknown = -1
	if !r.keep(conn, unknown) {
		return
	}
	defer r.drop(conn)
	begin, from, err := firstRequest(conn)
	if err != nil || !r.keep(conn, from) {
		return
	}
	controller, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", r.target)
	if err != nil {
		return
	}
	defer func() { _ = controller.Close() }() // the connection is discarded
	if _, err := controller.Write(begin); err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, controller) // either end may close it
		_ = conn.Close()
	})
	_, _ = io.Copy(controller, conn)
	_ = controller.Close()
	back.Wait()
}

// firstRequest reads the header of a request and returns its bytes and the id of the node, which is the end of the client
// id. A broker's client id is "4", that of its replica of the metadata log "raft-client-4".
func firstRequest(conn io.Reader) (begin []byte, from int32, err error) {
	const untilClient = 4 + 2 + 2 + 4 + 2 // size, key, version, correlation, length of the client id
	header := make([]byte, untilClient)
	if _, err := io.ReadFull(conn, header); err != nil {
		return nil, 0, err
	}
	length := int16(binary.BigEndian.Uint16(header[untilClient-2:]))
	client := make([]byte, max(length, 0))
	if _, err := io.ReadFull(conn, client); err != nil {
		return nil, 0, err
	}
	name := string(client)
	id, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 32)
	if err != nil {
		id = -1 // not a node of the cluster
	}
	return slices.Concat(header, client), int32(id), nil
}

// keep registers the connection as one of the node's. It closes the connection and returns false if the node is cut off.
func (r *relay) keep(conn net.Conn, from int32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut[from] {
		_ = conn.Close() // no data was exchanged on it
		return false
	}
	r.conns[conn] = from
	return true
}

func (r *relay) drop(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
	_ = conn.Close() // it may be closed already
}

// setCut closes the node's connections and refuses new ones, or permits them again.
func (r *relay) setCut(node int32, cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut[node] = cut
	for conn, from := range r.conns {
		if cut && from == node {
			_ = conn.Close() // the goroutine that copies from it then returns
		}
	}
}

// close closes every connection and returns once no goroutine of the relay is running.
func (r *relay) close() error {
	err := r.listener.Close()
	r.mu.Lock()
	for conn := range r.conns {
		err = errors.Join(err, ignoreClosed(conn.Close()))
	}
	r.mu.Unlock()
	r.done.Wait()
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
