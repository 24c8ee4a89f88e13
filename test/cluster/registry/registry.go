// Package registry serves the images of a store to containerd, which can resolve a digest only through a registry.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/detent-dev/detent/test/cluster/images"
)

// Serve serves the store until ctx ends. It reads content from the store. Images that are pushed later are known until it
// ends, and are read from the store when it starts again.
func Serve(ctx context.Context, address string, store images.Store) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("starting the registry: %w", err)
	}
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithBlobHandler(registry.NewDiskBlobHandler(store.Blobs())))
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if err := Push(ctx, "http://"+listener.Addr().String(), store); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-failed:
		return err
	}
}

// Push uploads the current list of images to a registry that reads from the store.
func Push(ctx context.Context, url string, store images.Store) error {
	list, err := store.Images()
	if err != nil {
		return err
	}
	for i := range list {
		if err := push(ctx, url, &list[i]); err != nil {
			return fmt.Errorf("publishing image %s: %w", list[i].Ref, err)
		}
	}
	return nil
}

func push(ctx context.Context, url string, image *images.Image) error {
	// The part before the first slash is the name of a registry. containerd omits it when it asks a mirror.
	_, rest, _ := strings.Cut(image.Ref, "/")
	repository, tag, found := strings.Cut(rest, ":")
	if !found {
		return errors.New("it has no tag")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url+"/v2/"+repository+"/manifests/"+tag, bytes.NewReader(image.Manifest))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", image.Type)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // only for the error message
		return fmt.Errorf("the registry answers %s: %s", resp.Status, bytes.TrimSpace(body))
	}
	return nil
}
