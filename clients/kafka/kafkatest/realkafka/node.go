package realkafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// stopTimeout is how long a process may take to shut down before it is killed.
const stopTimeout = 60 * time.Second

// node is one data directory with at most one running process.
type node struct {
	id                         int32
	dir                        string
	brokerPort, controllerPort int
	// votersPort is the port at which the other nodes reach its controller.
	votersPort int
	cmd        *exec.Cmd
	// gone is closed once the process has exited.
	gone chan struct{}
}

func (n *node) addr() string           { return "127.0.0.1:" + strconv.Itoa(n.brokerPort) }
func (n *node) controllerAddr() string { return "127.0.0.1:" + strconv.Itoa(n.controllerPort) }
func (n *node) config() string         { return n.file("server.properties") }
func (n *node) log() string            { return n.file("server.log") }
func (n *node) data() string           { return n.file("data") }

func (n *node) file(name string) string { return filepath.Join(n.dir, name) }

// The logging configurations make a process log to its standard output: Log4j 1 up to 3.9, Log4j 2 later.
// Jars with another logger, such as slf4j-simple, do not read them.
const (
	log4j1 = `log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=[%d] %p %m (%c)%n
`
	log4j2 = `status = ERROR
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
`
)

// writeLogging writes the configurations of both loggers.
func (n *node) writeLogging() error {
	return errors.Join(os.WriteFile(n.file("log4j.properties"), []byte(log4j1), 0o644), os.WriteFile(n.file("log4j2.properties"), []byte(log4j2), 0o644))
}

// java returns the arguments of a Java process. It starts quickly and uses little memory, because the
// processes run only for seconds.
func (n *node) java(classpath string, args ...string) []string {
	return append([]string{
		"-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classpath,
		"-Dlog4j.configuration=file:" + n.file("log4j.properties"), "-Dlog4j2.configurationFile=" + n.file("log4j2.properties"),
	}, args...)
}

// format formats the storage with a level of metadata.version; 0 is the default of the release.
func (n *node) format(ctx context.Context, classpath string, metadata int16) error {
	args := n.java(classpath, "kafka.tools.StorageTool", "format", "-t", clusterID, "-c", n.config())
	if name, known := versions.MetadataName(metadata); known {
		args = append(args, "--release-version", name)
	}
	if out, err := exec.CommandContext(ctx, "java", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("formatting the storage of node %d: %w: %s", n.id, err, out)
	}
	return nil
}

// formatAnew replaces the storage of a node without a process.
func (n *node) formatAnew(ctx context.Context, classpath string, metadata int16) error {
	if n.alive() {
		return fmt.Errorf("formatting the storage of node %d: it has a process", n.id)
	}
	if err := os.RemoveAll(n.data()); err != nil {
		return fmt.Errorf("formatting the storage of node %d: %w", n.id, err)
	}
	return n.format(ctx, classpath, metadata)
}

// start starts a process. Its output goes to log.
func (n *node) start(classpath string) error {
	log, err := os.Create(n.log())
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), "java", n.java(classpath, "kafka.Kafka", n.config())...)
	cmd.Stdout, cmd.Stderr = log, log
	// A separate process group, so that signals to the test do not reach the process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting node %d: %w", n.id, err)
	}
	gone := make(chan struct{})
	n.cmd, n.gone = cmd, gone
	go func() {
		defer close(gone)
		_ = cmd.Wait() // the log shows why it exited
		_ = log.Close()
	}()
	return nil
}

func (n *node) alive() bool {
	if n.cmd == nil {
		return false
	}
	select {
	case <-n.gone:
		return false
	default:
		return true
	}
}

// end sends the signal and returns once the process has exited. After stopTimeout it kills the process.
func (n *node) end(signal os.Signal) {
	if !n.alive() {
		return
	}
	_ = n.cmd.Process.Signal(signal) // fails only if the process has exited already
	select {
	case <-n.gone:
	case <-time.After(stopTimeout):
		_ = n.cmd.Process.Kill()
		<-n.gone
	}
}

// started reports whether the process has logged that it has started completely.
func (n *node) started() bool {
	raw, err := os.ReadFile(n.log())
	return err == nil && strings.Contains(string(raw), "Kafka Server started")
}

// lastWords returns the lines of the log that show why the process exited.
func (n *node) lastWords() string {
	raw, err := os.ReadFile(n.log())
	if err != nil {
		return err.Error()
	}
	var words []string
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "FATAL") || strings.Contains(line, "Exception") || strings.Contains(line, "Unsupported") {
			words = append(words, strings.TrimSpace(line))
		}
	}
	return strings.Join(words, "\n")
}

// snapshotSince reports whether the node wrote a snapshot of the metadata log after t.
func (n *node) snapshotSince(t time.Time) bool {
	files, err := filepath.Glob(filepath.Join(n.dir, "data", "__cluster_metadata-0", "*.checkpoint"))
	if err != nil {
		return false
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.ModTime().After(t) {
			return true
		}
	}
	return false
}
