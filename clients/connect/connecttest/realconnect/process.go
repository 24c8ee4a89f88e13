package realconnect

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
)

// process is a Java process that dies with the test.
type process struct {
	name, dir string
	cmd       *exec.Cmd
	done      chan struct{}
}

// run starts a class. Its log goes to <dir>/<name>.log.
func run(dir, name, classpath, class string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()                                                                   // the process has its own copy
	cmd := exec.Command("java", append(javaOptions(dir, classpath, class), args...)...) //nolint:noctx // it outlives the context of the step that starts it
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p := &process{name: name, dir: dir, cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the log says why it ended
		close(p.done)
	}()
	return p, nil
}

func javaOptions(dir, classpath, class string) []string {
	return []string{
		"-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
		"-Dlog4j.configuration=file:" + filepath.Join(dir, "log4j.properties"), "-Dlog4j2.configurationFile=" + filepath.Join(dir, "log4j2.properties"),
		"-cp", classpath, class,
	}
}

// writeLogging configures logging to the console, for Log4j 1 (3.9) and Log4j 2 (4.x).
func writeLogging(dir string) error {
	one := "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\nlog4j.appender.out.layout=org.apache.log4j.PatternLayout\nlog4j.appender.out.layout.ConversionPattern=%d %p %m%n\n"
	two := "rootLogger.level=INFO\nrootLogger.appenderRef.out.ref=out\nappender.out.type=Console\nappender.out.name=out\nappender.out.layout.type=PatternLayout\nappender.out.layout.pattern=%d %p %m%n\n"
	return errors.Join(os.WriteFile(filepath.Join(dir, "log4j.properties"), []byte(one), 0o644), os.WriteFile(filepath.Join(dir, "log4j2.properties"), []byte(two), 0o644))
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("sending %s to %s: %w", s, p.name, err)
	}
	return nil
}

// kill ends the process and returns once it has exited.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if it has exited
	<-p.done
}

// lastWords returns the end of its log.
func (p *process) lastWords() string {
	text, err := os.ReadFile(filepath.Join(p.dir, p.name+".log"))
	if err != nil {
		return err.Error()
	}
	const most = 2000
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// tool runs a class to its end.
func tool(ctx context.Context, dir, classpath, class string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "java", append(javaOptions(dir, classpath, class), args...)...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &out, dir
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s: %w: %s", class, err, out.String())
	}
	return nil
}
