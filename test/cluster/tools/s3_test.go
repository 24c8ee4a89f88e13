package main

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
)

// testObjects returns objects in a separate store.
func testObjects(t *testing.T) (*objects, gofakes3.Backend) {
	t.Helper()
	backend := s3mem.New()
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return &objects{endpoint: server.URL, region: "us-east-1", bucket: "numbers", count: 5, size: 5000, limit: time.Minute}, backend
}

func TestObjectsVerifyAfterWrite(t *testing.T) {
	o, _ := testObjects(t)
	if err := o.verify(t.Context()); err == nil {
		t.Error("what was never written is there")
	}
	for range 2 { // the second time into the bucket that is there
		if err := o.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := o.verify(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestObjectsVerifyErrors(t *testing.T) {
	o, backend := testObjects(t)
	if err := o.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.DeleteObject(t.Context(), "numbers", "1"); err != nil {
		t.Fatal(err)
	}
	changed := string(content(3, o.size-1)) + "!"
	if _, err := backend.PutObject(t.Context(), "numbers", "3", map[string]string{}, strings.NewReader(changed), int64(len(changed))); err != nil {
		t.Fatal(err)
	}
	err := o.verify(t.Context())
	for number, named := range map[int]bool{0: false, 1: true, 2: false, 3: true, 4: false} {
		if err == nil || strings.Contains(err.Error(), "object "+strconv.Itoa(number)+":") != named {
			t.Errorf("object %d is named: %t is wanted of %v", number, named, err)
		}
	}
}

func TestObjectsRequireEndpoint(t *testing.T) {
	for _, endpoint := range []string{"", "store:8080", "ftp://store"} {
		o := &objects{endpoint: endpoint, limit: time.Second}
		if err := o.write(t.Context()); err == nil || !strings.Contains(err.Error(), "it is no URL") {
			t.Errorf("endpoint %q: %v", endpoint, err)
		}
	}
}
