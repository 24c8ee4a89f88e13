package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Package of the distribution.
type Package struct {
	Name string
	// Version that was tested. It is a prefix of the installed version, so that the distribution's patches of it are
	// accepted.
	Version string
}

// NodePackages returns the packages that a node needs in addition to our programs. The files that CNI plugins, runc and
// containerd write and leave behind differ between versions, so another version must be tested before it is used.
func NodePackages() []Package {
	return []Package{
		{"containerd", "1.6.20"},
		{"runc", "1.1.5"},
		{"containernetworking-plugins", "1.1.1"},
		{"nftables", "1.0.6"},
	}
}

// Tried returns a VersionError with the advice if the installed version is not the one that was tested.
func (p Package) Tried(installed, advice string) error {
	rest, same := strings.CutPrefix(installed, p.Version)
	if same && (rest == "" || !digit(rest[0]) || p.Version == "" || !digit(p.Version[len(p.Version)-1])) {
		return nil
	}
	return &VersionError{Package: p, Installed: installed, Suffix: advice}
}

// digit reports whether a character continues a number: 1.1.55 is not a patch of 1.1.5.
func digit(c byte) bool { return '0' <= c && c <= '9' }

// VersionError means that a package has a version that was not tested.
type VersionError struct {
	Package           Package
	Installed, Suffix string
}

// Error names both versions and what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("package %s is installed in version %s, and only %s was tried%s", e.Package.Name, e.Installed, e.Package.Version, e.Suffix)
}

// Install installs packages of the distribution that are missing. It fails for a version that was not tested.
func Install(ctx context.Context, log io.Writer, packages []Package) error {
	var missing []string
	for _, p := range packages {
		if _, err := installed(ctx, p.Name); err != nil {
			missing = append(missing, p.Name)
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(log, "cluster: installing %s from the distribution's packages\n", strings.Join(missing, ", "))
		if err := aptInstall(ctx, missing); err != nil {
			return fmt.Errorf("installing %s: %w", strings.Join(missing, ", "), err)
		}
	}
	for _, p := range packages {
		version, err := installed(ctx, p.Name)
		if err != nil {
			return err
		}
		if err := p.Tried(version, "; run this on Debian 12, or try the other version and write it down in test/cluster/machine/packages.go"); err != nil {
			return err
		}
	}
	return nil
}

// installed returns the version of a package, or an error if it is not installed.
func installed(ctx context.Context, name string) (string, error) {
	out, err := exec.CommandContext(ctx, "dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", name).Output()
	status, version, _ := strings.Cut(string(out), " ")
	if err != nil || status != "installed" {
		return "", fmt.Errorf("package %s is not installed", name)
	}
	return version, nil
}

func aptInstall(ctx context.Context, names []string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("%w: this needs Debian or one of its kin; elsewhere use a cluster that exists, with E2E_KUBECONFIG", err)
	}
	for _, args := range [][]string{
		{"update", "--quiet", "--quiet"},
		append([]string{"install", "--yes", "--quiet", "--quiet", "--no-install-recommends"}, names...),
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		out, err := cmd.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			return fmt.Errorf("apt-get %s: %w:\n%s", args[0], err, bytes.TrimSpace(out))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
