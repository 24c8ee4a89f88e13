package node

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// said is closed on the first write.
type said struct{ once chan struct{} }

func (s said) Write(p []byte) (int, error) {
	close(s.once)
	return len(p), nil
}

func TestLockWaitsForOtherCommand(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, err := lock(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	log := said{make(chan struct{})}
	second := make(chan error, 1)
	go func() {
		f, err := lock(t.Context(), log)
		second <- errors.Join(err, f.Close())
	}()
	<-log.once
	select {
	case err := <-second:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func TestLockFailsWhenContextEnds(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, err := lock(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, io.Discard); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}
