package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/config"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/internal/resource"
	"github.com/detent-dev/detent/kinds"
)

func resources() []resource.Kind {
	managed, err := registration.Managed(kinds.All())
	if err != nil {
		panic(err)
	}
	return managed
}

func TestManifestsAreThoseOfTheCode(t *testing.T) {
	files, err := config.Files(resources())
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, pattern := range []string{"*/*.yaml", "*/*.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		have = append(have, found...)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date, run make generate (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range have {
		if _, generated := files[path]; !generated {
			t.Errorf("%s is not generated any more: remove it", path)
		}
	}
}

// kubectl refuses an object in a namespace that does not exist yet. A user may apply any of the files first.
func TestFilesHoldTheNamespaceOfTheirObjects(t *testing.T) {
	files, err := config.Files(resources())
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		for i, document := range bytes.Split(text, []byte("---\n"))[1:] {
			var o metav1.PartialObjectMetadata
			if err := yaml.Unmarshal(document, &o); err != nil {
				t.Fatal(err)
			}
			if i == 0 && o.Kind == "Namespace" && o.Name == config.Namespace {
				break
			}
			if o.Namespace == config.Namespace {
				t.Errorf("%s has the %s %s before its namespace", path, o.Kind, o.Name)
			}
		}
	}
}

// The arguments name the ports that the container declares.
func TestManagerListensOnItsPorts(t *testing.T) {
	for _, o := range config.Manager("x", "y") {
		d, ok := o.(*appsv1.Deployment)
		if !ok {
			continue
		}
		c := d.Spec.Template.Spec.Containers[0]
		for _, port := range c.Ports {
			listens := func(arg string) bool {
				return strings.HasSuffix(arg, fmt.Sprintf("-bind-address=:%d", port.ContainerPort))
			}
			if !slices.ContainsFunc(c.Args, listens) {
				t.Errorf("port %s: no argument of %q has %d", port.Name, c.Args, port.ContainerPort)
			}
		}
		if len(c.Ports) != 2 {
			t.Errorf("%d ports, want health and metrics", len(c.Ports))
		}
	}
}

func TestNoRightIsAWildcard(t *testing.T) {
	for _, o := range slices.Concat(config.Access(resources(), "x"), config.NamespacedAccess(resources(), "x", "y"), config.ClusterAccess(resources(), "x"), config.Users(resources())) {
		for _, rule := range rulesOf(o) {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				if word == rbacv1.VerbAll {
					t.Errorf("%s: %+v", o.GetName(), rule)
				}
			}
		}
	}
}

// The manager reads and writes the Secrets with the keys of Ceph clusters by name, and runs commands in pods. It lists, watches and deletes no
// Secret, and users get no such right. Who runs no Ceph clusters grants none of this.
func TestRightsOnSecretsAndPods(t *testing.T) {
	var common []resource.Kind
	var ceph resource.Kind
	for _, k := range resources() {
		if k.Separate == "" {
			common = append(common, k)
		} else {
			ceph = k
		}
	}
	exec := []string{"get", "create"}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    []string
		exec    []string
	}{
		"all but Ceph":                        {config.Access(common, "x"), nil, nil},
		"all but Ceph, in watched namespaces": {slices.Concat(config.NamespacedAccess(common, "x", "y"), config.ClusterAccess(common, "x")), nil, nil},
		"users":                               {config.Users(resources()), nil, nil},
		"Ceph":                                {config.KindAccess(ceph, "x"), []string{"get", "create", "update"}, exec},
		"Ceph, in a watched namespace":        {config.NamespacedKindAccess(ceph, "x", "y"), []string{"get", "create", "update"}, exec},
		"Ceph, in no namespace":               {config.ClusterKindAccess(ceph, "x"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got, exec []string
			for _, o := range tc.objects {
				for _, rule := range rulesOf(o) {
					if slices.Contains(rule.Resources, "secrets") {
						got = append(got, rule.Verbs...)
					}
					if slices.Contains(rule.Resources, "pods/exec") {
						exec = append(exec, rule.Verbs...)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("verbs on secrets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.exec, exec); diff != "" {
				t.Errorf("verbs on pods/exec (-want +got):\n%s", diff)
			}
		})
	}
}

func rulesOf(o client.Object) []rbacv1.PolicyRule {
	switch role := o.(type) {
	case *rbacv1.ClusterRole:
		return role.Rules
	case *rbacv1.Role:
		return role.Rules
	}
	return nil
}

func TestManagerIsRestricted(t *testing.T) {
	for _, o := range config.Manager("x", "y") {
		d, ok := o.(*appsv1.Deployment)
		if !ok {
			continue
		}
		pod := d.Spec.Template.Spec
		c := pod.Containers[0].SecurityContext
		if !*pod.SecurityContext.RunAsNonRoot || *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || len(c.Capabilities.Drop) != 1 {
			t.Errorf("pod %+v, container %+v", pod.SecurityContext, c)
		}
		if pod.ServiceAccountName != config.Account {
			t.Errorf("service account %q", pod.ServiceAccountName)
		}
		return
	}
	t.Error("there is no Deployment")
}

// The preflight checks come before the health endpoint, and take minutes on a slow API server.
func TestManagerHasTimeToStart(t *testing.T) {
	const want = 300
	for _, o := range config.Manager("x", "y") {
		if d, ok := o.(*appsv1.Deployment); ok {
			probe := d.Spec.Template.Spec.Containers[0].StartupProbe
			if probe == nil || probe.PeriodSeconds*probe.FailureThreshold < want {
				t.Errorf("startup probe %+v, want one that gives %d seconds", probe, want)
			}
		}
	}
}
