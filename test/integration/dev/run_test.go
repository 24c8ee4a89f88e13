package dev

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
)

// local is a running detent dev.
type local struct {
	cmd    *exec.Cmd
	out    *gbytes.Buffer
	dir    string
	ended  chan struct{}
	result error
}

// start runs detent dev with all its files in a separate directory.
func start(args ...string) *local {
	GinkgoHelper()
	return startWith(nil, args...)
}

// startWith is start with variables added to its environment.
func startWith(env []string, args ...string) *local {
	GinkgoHelper()
	out := gbytes.NewBuffer()
	return startInto(out, out, env, args...)
}

// startInto is startWith with its output going to a writer, which ends in out.
func startInto(out *gbytes.Buffer, into io.Writer, env []string, args ...string) *local {
	GinkgoHelper()
	l := &local{out: out, dir: GinkgoT().TempDir(), ended: make(chan struct{})}
	l.cmd = exec.CommandContext(context.Background(), binary, append([]string{"dev", "--dir", l.dir}, args...)...)
	l.cmd.Env = append(os.Environ(), env...)
	l.cmd.Stdout, l.cmd.Stderr = into, into
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	Expect(l.cmd.Start()).To(Succeed())
	go func() {
		l.result = l.cmd.Wait()
		close(l.ended)
	}()
	DeferCleanup(func() {
		if CurrentSpecReport().Failed() {
			GinkgoWriter.Println(string(l.out.Contents()))
			logs, _ := filepath.Glob(filepath.Join(l.dir, "*", "manager.log"))
			for _, name := range logs {
				text, err := os.ReadFile(name)
				GinkgoWriter.Println("manager.log:", err, string(text))
			}
		}
		_ = l.cmd.Process.Kill() // it has ended already unless a spec failed
		<-l.ended
	})
	return l
}

func (l *local) text() string { return string(l.out.Contents()) }

// line is the indented line of the greeting that contains the words, as a user types it.
func (l *local) line(words string) string {
	GinkgoHelper()
	for line := range strings.Lines(l.text()) {
		if strings.HasPrefix(line, "  ") && strings.Contains(line, words) {
			return strings.TrimSpace(line)
		}
	}
	Fail("no line of the greeting holds " + words + ":\n" + l.text())
	return ""
}

// shell runs a line in a shell that was set up as the greeting says.
func (l *local) shell(ctx context.Context, line string) (string, error) {
	GinkgoHelper()
	script := strings.Join([]string{l.line("export PATH="), l.line("export KUBECONFIG="), line}, "\n")
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), "HOME="+l.dir+"-home") // kubectl caches there
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (l *local) run(ctx context.Context, line string) string {
	GinkgoHelper()
	out, err := l.shell(ctx, line)
	Expect(err).NotTo(HaveOccurred(), line+"\n"+out)
	return out
}

var pidPattern = regexp.MustCompile(`kill -9 (\d+)|started again, pid (\d+)`)

// manager is the process id of the manager that was printed last.
func (l *local) manager() int {
	GinkgoHelper()
	all := pidPattern.FindAllStringSubmatch(l.text(), -1)
	Expect(all).NotTo(BeEmpty())
	last := all[len(all)-1]
	pid, err := strconv.Atoi(last[1] + last[2])
	Expect(err).NotTo(HaveOccurred())
	return pid
}

// family is the process and all its descendants.
func (l *local) family() []int {
	GinkgoHelper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	Expect(err).NotTo(HaveOccurred())
	parents := map[int]int{}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		var pid, parent int
		var state string
		_, rest, _ := strings.Cut(string(data), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && state != "Z" {
			pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
			parents[pid] = parent
		}
	}
	var out []int
	for pid := range parents {
		for at := pid; at != 0; at = parents[at] {
			if at == l.cmd.Process.Pid {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}

func alive(pids []int) []int {
	var out []int
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, rest, _ := strings.Cut(string(stat), ") "); err == nil && !strings.HasPrefix(rest, "Z") {
			out = append(out, pid)
		}
	}
	return out
}

// incarnations are the pods that existed under each name, by UID, with the revision that each was made from.
type incarnations struct {
	mu   sync.Mutex
	uids map[string]map[types.UID]string
}

// watchPods watches the pods of Kafka clusters in namespace default as admin, from now on.
func (l *local) watchPods(ctx context.Context) *incarnations {
	GinkgoHelper()
	admin := ""
	for line := range strings.Lines(l.text()) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "administrator" {
			admin = fields[1]
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", admin)
	Expect(err).NotTo(HaveOccurred())
	c, err := client.NewWithWatch(config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	watcher, err := c.Watch(ctx, &corev1.PodList{}, client.InNamespace("default"), client.HasLabels{"strimzi.io/cluster"})
	Expect(err).NotTo(HaveOccurred())
	seen := &incarnations{uids: map[string]map[types.UID]string{}}
	go func() {
		for e := range watcher.ResultChan() {
			if pod, ok := e.Object.(*corev1.Pod); ok && e.Type == watch.Added {
				seen.add(pod)
			}
		}
	}()
	DeferCleanup(func() {
		watcher.Stop()
		if CurrentSpecReport().Failed() {
			seen.mu.Lock()
			defer seen.mu.Unlock()
			GinkgoWriter.Println("pods with their revisions:", seen.uids)
		}
	})
	return seen
}

func (i *incarnations) add(pod *corev1.Pod) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.uids[pod.Name] == nil {
		i.uids[pod.Name] = map[types.UID]string{}
	}
	i.uids[pod.Name][pod.UID] = pod.CreationTimestamp.Format(time.TimeOnly) + " " + pod.Annotations[labels.Revision]
}

// count is the number of pods that existed under each name.
func (i *incarnations) count() map[string]int {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := map[string]int{}
	for name, uids := range i.uids {
		out[name] = len(uids)
	}
	return out
}
