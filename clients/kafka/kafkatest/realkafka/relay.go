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

// relay stands before a controller's listener and cuts connections by the node that made them. Every address that the nodes
// have of the controller is the relay's.
type relay struct {
	listener net.Listener
	target   string
	done     sync.WaitGroup

	mu    sync.Mutex
	cut   map[int32]bool
	conns map[net.Conn]int32
}

// newRelay relays from a loopback port to the controller at the other.
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
			return // closed
		}
		r.done.Go(func() { r.serve(conn) })
	}
}

// serve relays one connection, once its first request says who made it.
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
	defer func() { _ = controller.Close() }() // it is given up
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

// firstRequest reads the header of a request: its bytes, and the node that its client id ends in. A broker's is "4", that of
// its copy of the metadata log "raft-client-4".
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
		id = -1 // none of the nodes
	}
	return slices.Concat(header, client), int32(id), nil
}

// keep takes the connection down as one of the node's, unless the node is cut off.
func (r *relay) keep(conn net.Conn, from int32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut[from] {
		_ = conn.Close() // nothing was said on it
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

// setCut cuts the node's connections and refuses new ones, or lets them pass again.
func (r *relay) setCut(node int32, cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut[node] = cut
	for conn, from := range r.conns {
		if cut && from == node {
			_ = conn.Close() // the copy that uses it ends
		}
	}
}

// close ends every connection and returns when nothing of the relay runs any more.
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
