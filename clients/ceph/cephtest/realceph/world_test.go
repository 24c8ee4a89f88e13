//go:build realceph

package realceph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
)

const (
	inside  = "/r"
	fsid    = "11111111-2222-3333-4444-555555555555"
	monHost = "[v2:127.0.0.1:43300,v1:127.0.0.1:46789],[v2:127.0.0.1:43301,v1:127.0.0.1:46790],[v2:127.0.0.1:43302,v1:127.0.0.1:46791]"
	conf    = `[global]
fsid=` + fsid + `
mon initial members=a,b,c
mon host=` + monHost + `
public addr=127.0.0.1
cluster addr=127.0.0.1
ms bind port min=46800
ms bind port max=47300
run dir=/r/run
admin socket=/r/run/$name.asok
log file=/r/log/$name.log
crash dir=/r/crash
keyring=/r/keyring/$name.keyring
auth allow insecure global id reclaim=false
osd crush chooseleaf type=0
osd pool default size=3
osd pool default min size=2
osd pool default pg num=8
osd pool default pg autoscale mode=off
mon max pg per osd=1000
mon allow pool delete=true
[mon]
mon data=/r/mon/$id
mon data avail warn=2
mon data avail crit=1
mgr initial modules=iostat
[mgr]
mgr data=/r/mgr/$id
[osd]
osd data=/r/osd/$id
osd objectstore=bluestore
bluestore block size=2147483648
osd memory target=939524096
bluestore cache autotune=false
bluestore cache size=67108864
[mds]
mds data=/r/mds/$id
mds cache memory limit=67108864
[client.admin]
keyring=/r/keyring/client.admin.keyring
`
)

// world is a cluster of real daemons.
type world struct {
	t       *testing.T
	roots   string
	data    string
	release string
	running map[ceph.Daemon]*process
}

type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	log  *bytes.Buffer
}

func build(t *testing.T, s cephtest.Setup) cephtest.World {
	t.Helper()
	roots := os.Getenv("CEPH_ROOTS")
	if roots == "" {
		t.Fatal("set CEPH_ROOTS to a folder with a root file system for each of the releases 14, 16 and 18")
	}
	w := &world{t: t, roots: roots, data: t.TempDir(), release: s.Release, running: map[ceph.Daemon]*process{}}
	for _, dir := range []string{"run", "log", "crash", "keyring", "mon", "mgr", "osd", "mds"} {
		w.must(os.MkdirAll(filepath.Join(w.data, dir), 0o755))
	}
	w.must(os.WriteFile(filepath.Join(w.data, "ceph.conf"), []byte(conf), 0o644))
	for release := range cephtest.Releases() {
		for from, to := range map[string]string{w.data: inside, "/proc": "/proc", "/dev": "/dev"} {
			target := filepath.Join(roots, release, to)
			w.must(os.MkdirAll(target, 0o755))
			w.must(syscall.Mount(from, target, "", syscall.MS_BIND, ""))
			t.Cleanup(func() { _ = syscall.Unmount(target, syscall.MNT_DETACH) })
		}
	}
	t.Cleanup(w.end)
	w.create()
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// chroot returns a command in the root of a release.
func (w *world) chroot(ctx context.Context, release string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Path = filepath.Join("/usr/bin", args[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: filepath.Join(w.roots, release), Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Dir, cmd.Env, cmd.Err = "/", []string{"CEPH_CONF=/r/ceph.conf", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"}, nil
	return cmd
}

func (w *world) tool(args ...string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := w.chroot(ctx, w.release, args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// create makes the keys and starts every daemon, and waits until the cluster is healthy.
func (w *world) create() {
	admin := []string{"--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mds", "allow *", "--cap", "mgr", "allow *"}
	w.tool("ceph-authtool", "--create-keyring", "/r/keyring/mon.keyring", "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
	w.tool(append([]string{"ceph-authtool", "--create-keyring", "/r/keyring/client.admin.keyring", "--gen-key", "-n", "client.admin"}, admin...)...)
	w.tool("ceph-authtool", "/r/keyring/mon.keyring", "--import-keyring", "/r/keyring/client.admin.keyring")
	hosts := strings.SplitAfter(monHost, "],")
	monmap := []string{"monmaptool", "--create", "--clobber", "--fsid", fsid}
	for i, id := range []string{"a", "b", "c"} {
		monmap = append(monmap, "--addv", id, strings.TrimSuffix(hosts[i], ","))
	}
	w.tool(append(monmap, "/r/monmap")...)
	for _, id := range []string{"a", "b", "c"} {
		w.tool("ceph-mon", "--mkfs", "-i", id, "--fsid", fsid, "--monmap", "/r/monmap", "--keyring", "/r/keyring/mon.keyring")
		w.launch(ceph.Daemon{Type: ceph.TypeMon, ID: id}, w.release)
	}
	w.pass("a quorum", func(ctx context.Context) (bool, error) {
		q, err := w.Client().Quorum(ctx)
		return len(q.Members) == 3, err
	})
	for _, id := range []string{"a", "b"} {
		w.tool("ceph", "auth", "get-or-create", "mgr."+id, "mon", "allow profile mgr", "osd", "allow *", "mds", "allow *", "-o", "/r/keyring/mgr."+id+".keyring")
		w.must(os.MkdirAll(filepath.Join(w.data, "mgr", id), 0o755))
		w.launch(ceph.Daemon{Type: ceph.TypeMgr, ID: id}, w.release)
	}
	for i := range 3 {
		id := fmt.Sprint(i)
		key := w.tool("ceph-authtool", "--gen-print-key")
		w.must(os.WriteFile(filepath.Join(w.data, "secret"), fmt.Appendf(nil, `{"cephx_secret": %q}`, key), 0o600))
		uuid := fmt.Sprintf("00000000-0000-0000-0000-00000000000%d", i)
		w.tool("ceph", "osd", "new", uuid, "-i", "/r/secret")
		w.must(os.MkdirAll(filepath.Join(w.data, "osd", id), 0o755))
		w.tool("ceph-authtool", "--create-keyring", "/r/keyring/osd."+id+".keyring", "-n", "osd."+id, "--add-key", key)
		w.tool("ceph-osd", "--mkfs", "-i", id, "--osd-uuid", uuid, "--no-mon-config")
		w.launch(ceph.Daemon{Type: ceph.TypeOSD, ID: id}, w.release)
	}
	for _, pool := range []string{"p1", "myfs-meta", "myfs-data"} {
		w.tool("ceph", "osd", "pool", "create", pool, "8", "8")
	}
	w.tool("ceph", "osd", "pool", "application", "enable", "p1", "rbd")
	w.tool("ceph", "fs", "new", "myfs", "myfs-meta", "myfs-data")
	for _, id := range []string{"myfs-a", "myfs-b"} {
		w.tool("ceph", "auth", "get-or-create", "mds."+id, "mon", "allow profile mds", "osd", "allow *", "mds", "allow", "mgr", "allow profile mds", "-o", "/r/keyring/mds."+id+".keyring")
		w.launch(ceph.Daemon{Type: ceph.TypeMDS, ID: id}, w.release)
	}
	w.pass("a healthy cluster", func(ctx context.Context) (bool, error) {
		h, err := w.Client().Health(ctx)
		if err != nil {
			return false, err
		}
		p, err := w.Client().PGs(ctx)
		clean, _ := p.Clean()
		f, errFS := w.Client().Filesystems(ctx)
		return h.Status == ceph.HealthOK && clean && len(f.Filesystems[0].MDS) == 1 && f.Filesystems[0].MDS[0].State == ceph.MDSActive && len(f.Standbys) == 1, errors.Join(err, errFS)
	})
}

// pass waits for a condition of the setup, whose errors are answers that are not there yet.
func (w *world) pass(what string, condition func(ctx context.Context) (bool, error)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	w.must(w.Pass(ctx, what, func(ctx context.Context) (bool, error) {
		ok, err := condition(ctx)
		return ok && err == nil, nil
	}))
}

func (w *world) launch(d ceph.Daemon, release string) {
	args := []string{"ceph-" + string(d.Type), "-f", "-i", d.ID}
	if d.Type == ceph.TypeMon {
		args = append(args, "--keyring", "/r/mon/"+d.ID+"/keyring")
	}
	p := &process{cmd: w.chroot(context.Background(), release, args...), done: make(chan struct{}), log: &bytes.Buffer{}}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(p.cmd.Env, "POD_NAME="+d.String(), "NODE_NAME=node1")
	w.must(p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	w.running[d] = p
}

func (w *world) end() {
	for d := range w.running {
		_ = w.Stop(context.Background(), d)
	}
}

func (w *world) Client() ceph.Client { return ceph.Client{Runner: w} }

// Run runs the ceph command of the release that the cluster began with.
func (w *world) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := w.chroot(ctx, w.release, append([]string{"ceph", "--connect-timeout", "15", "--format", "json"}, command.Args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(command.Input), &out, &errs
	err := cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && exited.Exited() {
		return ceph.Result{Code: exited.ExitCode(), Stdout: out.Bytes(), Stderr: errs.Bytes()}, nil
	}
	return ceph.Result{Stdout: out.Bytes(), Stderr: errs.Bytes()}, err
}

// Start waits ten seconds for a process that ends because of its data.
func (w *world) Start(ctx context.Context, d ceph.Daemon, release string) error {
	w.launch(d, release)
	p := w.running[d]
	lives, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	select {
	case <-p.done:
		delete(w.running, d)
		return &cephtest.Died{Daemon: d, Words: p.log.String()[max(0, p.log.Len()-400):]}
	case <-lives.Done():
		return ctx.Err()
	}
}

func (w *world) Stop(ctx context.Context, d ceph.Daemon) error {
	p := w.running[d]
	if p == nil {
		return nil
	}
	delete(w.running, d)
	patience, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-patience.Done(): // a standby manager may ignore the signal
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return nil
}

func (w *world) Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error {
	for ctx.Err() == nil { // each question takes about half a second
		if ok, err := condition(ctx); err != nil || ok {
			return err
		}
	}
	return fmt.Errorf("%s: %w", what, ctx.Err())
}

func TestBehavioursOnRealDaemons(t *testing.T) {
	for _, b := range cephtest.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			b.Run(ctx, t, build)
		})
	}
}
