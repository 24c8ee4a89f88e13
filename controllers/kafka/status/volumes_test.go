package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/transitions"
)

// claimOf is a claim that asks for a size and has a capacity; both may be empty.
func claimOf(asks, has string, conditions ...corev1.PersistentVolumeClaimCondition) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-0-c-b-0"}}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(asks)}
	if has != "" {
		c.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(has)}
	}
	c.Status.Conditions = conditions
	return c
}

// problemOf is the problem with the message; nil for none.
func problemOf(reason transitions.Reason, message string) *transitions.Problem {
	if message == "" {
		return nil
	}
	return &transitions.Problem{Reason: reason, Message: message}
}

func TestExpansion(t *testing.T) {
	reported := func(kind corev1.PersistentVolumeClaimConditionType, status corev1.ConditionStatus, message string) corev1.PersistentVolumeClaimCondition {
		return corev1.PersistentVolumeClaimCondition{Type: kind, Status: status, Message: message}
	}
	infeasible := claimOf("2Gi", "1Gi", reported(corev1.PersistentVolumeClaimControllerResizeError, corev1.ConditionTrue, "the volume has its largest size."))
	infeasible.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible}
	for name, tc := range map[string]struct {
		claim *corev1.PersistentVolumeClaim
		want  string
	}{
		"as large as declared":                {claim: claimOf("2Gi", "2Gi")},
		"larger, of a static volume":          {claim: claimOf("2Gi", "10Gi")},
		"the same size in another unit":       {claim: claimOf("2Gi", "2048Mi")},
		"not bound yet":                       {claim: claimOf("2Gi", "")},
		"set back after its expansion failed": {claim: claimOf("3Gi", "2Gi")},
		"the request was refused": {claim: claimOf("1Gi", "1Gi"), want: "PersistentVolumeClaim data-0-c-b-0 has 1Gi of 2Gi: nothing reports that it is being expanded. " +
			"If its storage class does not expand volumes, set the size back"},
		"a controller expands it": {
			claim: claimOf("2Gi", "1Gi", reported(corev1.PersistentVolumeClaimResizing, corev1.ConditionTrue, "")),
			want:  "PersistentVolumeClaim data-0-c-b-0 has 1Gi of 2Gi: Resizing",
		},
		"a kubelet has to expand the file system": {
			claim: claimOf("2Gi", "1Gi", reported(corev1.PersistentVolumeClaimFileSystemResizePending, corev1.ConditionTrue, "Waiting for user to (re-)start a pod.")),
			want: "PersistentVolumeClaim data-0-c-b-0 has 1Gi of 2Gi: FileSystemResizePending: Waiting for user to (re-)start a pod, " +
				"if it lasts, restart the pod with the annotation strimzi.io/manual-rolling-update=true",
		},
		"it cannot be expanded": {claim: infeasible, want: "PersistentVolumeClaim data-0-c-b-0 has 1Gi of 2Gi: ControllerResizeInfeasible, ControllerResizeError: the volume has its largest size"},
		"what it no longer reports, and conditions about something else": {
			claim: claimOf("2Gi", "1Gi", reported(corev1.PersistentVolumeClaimNodeResizeError, corev1.ConditionFalse, "x"), reported(corev1.PersistentVolumeClaimUnused, corev1.ConditionTrue, "x")),
			want: "PersistentVolumeClaim data-0-c-b-0 has 1Gi of 2Gi: nothing reports that it is being expanded. " +
				"If its storage class does not expand volumes, set the size back",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(problemOf(ReasonVolumesNotExpanded, tc.want), expansion(claimOf("2Gi", ""), tc.claim)); diff != "" {
				t.Errorf("expansion (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStorageOfClaimsThatIsKept(t *testing.T) {
	of := func(claim *corev1.PersistentVolumeClaim, class *string) *corev1.PersistentVolumeClaim {
		claim.Spec.StorageClassName = class
		return claim
	}
	askedFor := func(claim *corev1.PersistentVolumeClaim, class string) *corev1.PersistentVolumeClaim {
		claim.Annotations = map[string]string{labels.StorageClass: class}
		return claim
	}
	for name, tc := range map[string]struct {
		want, have     *corev1.PersistentVolumeClaim
		shrinks, class string
	}{
		"as declared":                         {want: of(claimOf("1Gi", ""), new("fast")), have: of(claimOf("1Gi", "1Gi"), new("fast"))},
		"the class of the cluster":            {want: claimOf("1Gi", ""), have: of(claimOf("1Gi", "1Gi"), new("fast"))},
		"a larger size":                       {want: claimOf("2Gi", ""), have: claimOf("1Gi", "1Gi")},
		"a smaller size":                      {want: claimOf("1Gi", ""), have: claimOf("2Gi", "2Gi"), shrinks: "data-0-c-b-0 (2Gi, declared 1Gi)"},
		"a smaller size before it is bound":   {want: claimOf("1Gi", ""), have: claimOf("2Gi", ""), shrinks: "data-0-c-b-0 (2Gi, declared 1Gi)"},
		"a static volume is larger":           {want: claimOf("1Gi", ""), have: claimOf("1Gi", "10Gi")},
		"set back after its expansion failed": {want: claimOf("1Gi", ""), have: claimOf("2Gi", "1Gi")},
		"another class":                       {want: of(claimOf("1Gi", ""), new("fast")), have: of(claimOf("1Gi", "1Gi"), new("slow")), class: "data-0-c-b-0 (slow, declared fast)"},
		"a webhook changed the class": {
			want: of(claimOf("1Gi", ""), new("fast")), have: askedFor(of(claimOf("1Gi", "1Gi"), new("fast-encrypted")), "fast"),
		},
		"another class than a webhook changed": {
			want: of(claimOf("1Gi", ""), new("slow")), have: askedFor(of(claimOf("1Gi", "1Gi"), new("fast-encrypted")), "fast"),
			class: "data-0-c-b-0 (fast-encrypted, declared slow)",
		},
		"the class that a webhook has set": {
			want: of(claimOf("1Gi", ""), new("fast-encrypted")), have: askedFor(of(claimOf("1Gi", "1Gi"), new("fast-encrypted")), "fast"),
		},
		"a class, and the claim has none": {want: of(claimOf("1Gi", ""), new("fast")), have: claimOf("1Gi", "1Gi"), class: "data-0-c-b-0 (none, declared fast)"},
	} {
		t.Run(name, func(t *testing.T) {
			want := []*transitions.Problem{problemOf(reasonLarger, tc.shrinks), problemOf(reasonOtherClass, tc.class)}
			if diff := cmp.Diff(want, []*transitions.Problem{shrinks(tc.want, tc.have), changesClass(tc.want, tc.have)}); diff != "" {
				t.Errorf("size and class (-want +got):\n%s", diff)
			}
		})
	}
}
