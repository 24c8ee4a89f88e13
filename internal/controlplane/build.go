package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/detent-dev/detent/internal/controlplane/child"
)

const (
	// progressEvery is the interval of the progress messages of a build.
	progressEvery = 20 * time.Second
	// stopGrace is how long an interrupted go command may take to clean up.
	stopGrace = 10 * time.Second
	// compilerGC is the GOGC of a build for users who set none.
	compilerGC = "400"
	// lowPriority is the nice value of a background build.
	lowPriority = 10
	// workPrefix is the prefix of a build's temporary directory.
	workPrefix = "build-"
)

// builder builds programs into dir.
type builder struct {
	BinaryOptions
	pins pins
	dir  string
}

func newBuilder(o BinaryOptions) (*builder, error) {
	p, err := readPins(pinnedMod, pinnedSum)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Cache, "control-plane", p.key()+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	return &builder{BinaryOptions: o, pins: p, dir: dir}, nil
}

// place returns the path of a program after its build.
func (b *builder) place(prog program) string { return filepath.Join(b.dir, string(prog.name)) }

// absent returns the programs that are not built yet.
func (b *builder) absent(progs []program) []program {
	var missing []program
	for _, prog := range progs {
		if !executable(b.place(prog)) {
			missing = append(missing, prog)
		}
	}
	return missing
}

// ensure builds the programs that are not in the builder's directory yet, and
// sets the path of each.
func (b *builder) ensure(ctx context.Context, progs []program) error {
	if len(b.absent(progs)) > 0 {
		if err := b.buildLocked(ctx, progs); err != nil {
			return err
		}
	}
	for _, prog := range progs {
		*prog.path = b.place(prog)
	}
	return nil
}

// buildLocked builds the programs that are still absent, holding the lock against other processes.
func (b *builder) buildLocked(ctx context.Context, progs []program) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return fmt.Errorf("making the cache directory: %w; XDG_CACHE_HOME can name another place", err)
	}
	held, err := lock(ctx, b.dir+".lock", b.Clock, func() {
		b.say("another process is building the control plane; waiting for it")
	})
	if err != nil {
		return fmt.Errorf("locking the cache directory: %w", err)
	}
	defer held.Close()
	missing := b.absent(progs) // the other process may have built them meanwhile
	if len(missing) == 0 {
		return nil
	}
	if err := b.build(ctx, missing); err != nil {
		return fmt.Errorf("building %s from source: %w", names(missing), err)
	}
	return nil
}

func (b *builder) say(format string, args ...any) {
	fmt.Fprintf(b.Log, "control plane: "+format+"\n", args...)
}

// build runs one go build for all programs, since they share most packages. It
// moves each finished program to its place by a rename, so that no process can
// run a partial file.
func (b *builder) build(ctx context.Context, progs []program) error {
	if err := b.clear(); err != nil {
		return err
	}
	work, err := os.MkdirTemp(b.dir, workPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := b.pins.write(work); err != nil {
		return err
	}
	out := filepath.Join(work, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	begun := b.Clock.Now()
	b.say("building %s %s from source: some minutes on two cores, this once", names(progs), b.pins.kubernetes)
	if err := b.goBuild(ctx, work, out, progs); err != nil {
		return err
	}
	for _, prog := range progs {
		built := filepath.Join(out, executableName(prog.pkg))
		if err := os.Rename(built, b.place(prog)); err != nil {
			return err
		}
	}
	b.say("built in %s, kept in %s", b.Clock.Since(begun).Round(time.Second), b.dir)
	return nil
}

// clear removes the directories of builds that were killed. The caller holds the
// lock, so no build is running.
func (b *builder) clear() error {
	left, err := filepath.Glob(filepath.Join(b.dir, workPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// executableName returns the name that go build gives the program of a package:
// the last element of its path that is not a major version.
func executableName(pkg string) string {
	if dir, base := filepath.Split(pkg); base == "v3" {
		return filepath.Base(dir)
	}
	return filepath.Base(pkg)
}

func (b *builder) goBuild(ctx context.Context, work, out string, progs []program) error {
	tool, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("%w; install Go 1.24 or newer, or set %s to a directory that holds etcd, kube-apiserver, kube-controller-manager and kubectl", err, AssetsEnv)
	}
	args := []string{"build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", b.pins.linkerFlags(), "-o", out + string(filepath.Separator)}
	for _, prog := range progs {
		args = append(args, prog.pkg)
	}
	log := filepath.Join(work, "build.log")
	p, err := child.Start(child.Spec{Name: "go build", Path: tool, Args: args, Env: buildEnv(os.Environ(), work), Dir: work, Log: log})
	if err != nil {
		return err
	}
	if b.LowPriority {
		// A failure is ignored: a build at normal priority is correct too.
		_ = unix.Setpriority(unix.PRIO_PGRP, p.PID(), lowPriority)
	}
	if err := b.follow(ctx, p, log); err != nil {
		return err
	}
	var exit *child.ExitError
	if errors.As(p.Err(), &exit) && exit.Code != 0 {
		return explain(exit)
	}
	return nil
}

// follow reports the progress of a build until it ends. When ctx ends, it
// interrupts the go command and waits for it to remove its temporary files.
func (b *builder) follow(ctx context.Context, p *child.Process, log string) error {
	begun := b.Clock.Now()
	tick := b.Clock.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.Done():
			return nil
		case <-tick.C():
			b.say("still building, %s so far, %d packages compiled", b.Clock.Since(begun).Round(time.Second), compiled(log))
		case <-ctx.Done():
			interrupt(context.WithoutCancel(ctx), p)
			return fmt.Errorf("stopped after %s: %w; what was compiled is kept, the next build goes on from there",
				b.Clock.Since(begun).Round(time.Second), context.Cause(ctx))
		}
	}
}

// interrupt ends the go command so that it removes its temporary files.
func interrupt(ctx context.Context, p *child.Process) {
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	p.Stop(ctx, os.Interrupt)
}

// compiled returns the number of packages that go build -v has printed.
func compiled(log string) int {
	data, err := os.ReadFile(log)
	if err != nil {
		return 0
	}
	lines := 0
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("go: ")) {
			lines++
		}
	}
	return lines
}

// buildEnv returns env without the settings that would change how or for which
// machine the programs are built. It sets GOFLAGS rather than removing it,
// because without it the user's go env file applies. It sets GOGC because less
// frequent garbage collections save the compiler a fifth of its time on large
// packages; a GOGC in env takes precedence.
func buildEnv(env []string, dir string) []string {
	return append(append([]string{"GOGC=" + compilerGC}, env...),
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOTMPDIR="+dir, "PWD="+dir)
}

// explain adds the remedy to failures that the user can resolve.
func explain(exit *child.ExitError) error {
	for _, hint := range []struct{ sign, do string }{
		{"no space left on device", "the disk is full: a build needs about 4 GB for the caches of go (go env GOCACHE GOMODCACHE TMPDIR) and 300 MB for its result"},
		{"requires go >=", "the go command is too old: install a newer one"},
		{"checksum mismatch", "a downloaded module is not the one that was pinned: look at GOPROXY before you trust it"},
		{"dial tcp", "the module proxy cannot be reached: set GOPROXY, or " + AssetsEnv + " to a directory with ready-made programs"},
		{"module lookup disabled", "modules may not be downloaded here: set GOPROXY, or " + AssetsEnv + " to a directory with ready-made programs"},
		{"signal: killed", "a compiler was killed, most often because memory ran out"},
	} {
		if strings.Contains(exit.Tail, hint.sign) {
			return fmt.Errorf("%w\n%s", exit, hint.do)
		}
	}
	return exit
}
