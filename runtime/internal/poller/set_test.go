package poller_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/detent-dev/detent/runtime/internal/poller"
)

func TestSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		var set poller.Set[string, *poller.Endpoint[string, string, string]]
		built := 0
		build := func(*poller.Endpoint[string, string, string]) (*poller.Endpoint[string, string, string], error) {
			built++
			return s.endpoint(), nil
		}
		get := func(key, from string) *poller.Endpoint[string, string, string] {
			t.Helper()
			e, err := set.Get(key, from, build)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		first := get("uid-1", "ca 1")
		if get("uid-1", "ca 1") != first || get("uid-2", "ca 1") == first {
			t.Error("endpoints are not kept by key")
		}
		first.Ask(query("quorum", 0))
		synctest.Wait()
		if get("uid-1", "ca 2") == first {
			t.Error("an endpoint outlived what it was made from")
		}
		if _, err := set.Get("uid-1", "ca 3", func(*poller.Endpoint[string, string, string]) (*poller.Endpoint[string, string, string], error) {
			return nil, errors.New("no such secret")
		}); err == nil {
			t.Error("an endpoint came out of nothing")
		}
		if built != 3 {
			t.Errorf("built %d, want 3", built)
		}
		dropped := get("uid-2", "ca 1")
		set.DropAll(func(key string) bool { return key == "uid-2" || key == "uid-9" })
		if get("uid-1", "ca 2") == nil || get("uid-2", "ca 1") == dropped || built != 4 {
			t.Errorf("built %d after one of two was dropped, want 4", built)
		}
		set.Close()
		if _, err := set.Get("uid-1", "ca 2", build); !errors.Is(err, poller.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
