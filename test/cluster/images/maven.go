package images

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// copyDependencies is the goal that resolves and copies jars. Its version is pinned, as theirs are.
const copyDependencies = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

// logging returns the dependencies for writing Kafka's log, which Kafka's own poms omit. Up to 3.9 Connect calls
// Log4j 1 directly.
func logging(version string) string {
	dependency := func(group, artifact, version string) string {
		return fmt.Sprintf("    <dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>", group, artifact, version)
	}
	if strings.HasPrefix(version, "3.") {
		return dependency("org.slf4j", "slf4j-reload4j", "1.7.36") + "\n" + dependency("ch.qos.reload4j", "reload4j", "1.2.25")
	}
	const log4j = "2.25.4"
	return strings.Join([]string{
		dependency("org.apache.logging.log4j", "log4j-api", log4j),
		dependency("org.apache.logging.log4j", "log4j-core", log4j),
		dependency("org.apache.logging.log4j", "log4j-slf4j-impl", log4j),
	}, "\n")
}

// checksum is the SHA-256 of a file.
type checksum struct{ sum, name string }

// Checksums resolves the jars of a version of Kafka and returns their checksums, in the format of the files in
// images/kafka.
func Checksums(ctx context.Context, log io.Writer, version string) (string, error) {
	dir, err := os.MkdirTemp("", "detent-jars-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := fetchJars(ctx, log, version, dir); err != nil {
		return "", err
	}
	sums, err := sumDir(dir)
	var out strings.Builder
	for _, c := range sums {
		fmt.Fprintf(&out, "%s  %s\n", c.sum, c.name)
	}
	return out.String(), err
}

func readChecksums(version string) ([]checksum, error) {
	data, err := kafkaFiles.ReadFile("kafka/" + version + ".sha256")
	if err != nil {
		return nil, fmt.Errorf("looking for the checksums of Kafka %s: %w; bin/cluster checksums %s prints them", version, err, version)
	}
	var out []checksum
	for line := range strings.Lines(string(data)) {
		sum, name, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !found || len(sum) != hex.EncodedLen(sha256.Size) {
			return nil, fmt.Errorf("reading the checksums of Kafka %s: %q is no checksum and name", version, line)
		}
		out = append(out, checksum{sum, name})
	}
	return out, nil
}

// compare fails unless the jars are exactly the expected ones: an additional jar is an error as well.
func compare(version string, want, got []checksum) error {
	var errs []error
	for _, c := range got {
		if !slices.Contains(want, c) {
			errs = append(errs, fmt.Errorf("%s with checksum %s was not expected", c.name, c.sum))
		}
	}
	for _, c := range want {
		if !slices.Contains(got, c) {
			errs = append(errs, fmt.Errorf("%s with checksum %s did not come", c.name, c.sum))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("comparing the jars of Kafka %s with images/kafka/%s.sha256: %w", version, version, errors.Join(errs...))
	}
	return nil
}

// fetchJars downloads the jars of a version of Kafka into a directory.
func fetchJars(ctx context.Context, log io.Writer, version, dir string) error {
	if _, err := exec.LookPath("mvn"); err != nil {
		if err := machine.Install(ctx, log, []machine.Package{{Name: "maven"}}); err != nil {
			return err
		}
	}
	pom, err := kafkaFiles.ReadFile("kafka/pom.xml")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "detent-pom-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	file := filepath.Join(work, "pom.xml")
	text := strings.NewReplacer("VERSION", version, "LOGGING", logging(version)).Replace(string(pom))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "--file="+file, copyDependencies, "-DincludeScope=runtime", "-DoutputDirectory="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("resolving the jars of Kafka %s: %w:\n%s", version, err, bytes.TrimSpace(out))
	}
	return nil
}

// sumDir returns the checksums of all files in a directory, by name.
func sumDir(dir string) ([]checksum, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := make([]checksum, len(entries))
	for i, e := range entries {
		sum, err := fileSum(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		out[i] = checksum{sum, e.Name()}
	}
	return out, nil
}

// sumFiles returns one checksum over files in memory.
func sumFiles(files []file) string {
	h := sha256.New()
	for i := range files {
		f := &files[i]
		fmt.Fprintf(h, "%q %o %q %d\n", f.name, f.mode, f.link, len(f.content))
		h.Write(f.content)
	}
	return hex.EncodeToString(h.Sum(nil))
}
