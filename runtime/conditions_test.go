package runtime

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *metav1.Time {
	t := metav1.NewTime(noon.Add(d))
	return &t
}

// in returns a lifecycle that is in a state of this kind.
func in(name string, state states.State, change ...func(*lifecycleState)) lifecycleState {
	s := lifecycleState{name: name, state: state, known: true, maxTransitionsWithoutProgress: 64, entry: &lifecyclev1.Lifecycle{Name: name, State: state.Name, EnteredAt: *at(-time.Minute)}}
	for _, c := range change {
		c(&s)
	}
	return s
}

var (
	resting  = states.State{Name: "Settled", Kind: states.Rest, Doc: "all is well"}
	working  = states.State{Name: "Rolling", Kind: states.Work, Doc: "nodes restart"}
	waiting  = states.State{Name: "AwaitingSync", Kind: states.Wait, Doc: "the node catches up"}
	refusing = states.State{Name: "Refused", Kind: states.Hold, Doc: "it was refused"}
	soaking  = states.State{Name: "Soaking", Kind: states.Hold, HoldReason: states.Planned, Doc: "it soaks"}
	advising = states.State{Name: "MetadataRefused", Kind: states.Hold, HoldReason: states.Advice, Doc: "a level was refused"}
)

func TestConditionsFollowTheWorstLifecycle(t *testing.T) {
	overdue := func(s *lifecycleState) { s.entry.Deadline = at(0) }
	looping := func(s *lifecycleState) { s.entry.TransitionsSinceProgress = 65 }
	unknown := func(s *lifecycleState) { s.known, s.state, s.entry.State = false, states.State{}, "ninth-heaven" }
	type want struct {
		ready, reconciling, stalled string // status and reason
		kstatus                     status.Status
	}
	settled := want{"True Settled", "False Settled", "False WithinDeadline", status.CurrentStatus}
	for name, c := range map[string]struct {
		all      []lifecycleState
		observed int64
		want     want
	}{
		"at rest":                               {[]lifecycleState{in("a", resting), in("b", resting)}, 3, settled},
		"at rest, generation not decided upon":  {[]lifecycleState{in("a", resting)}, 2, want{"False Deciding", "True Deciding", "False WithinDeadline", status.InProgressStatus}},
		"no entry yet":                          {[]lifecycleState{in("a", resting), {name: "b"}}, 3, want{"False NotObserved", "True NotObserved", "False WithinDeadline", status.InProgressStatus}},
		"another lifecycle works":               {[]lifecycleState{in("a", resting), in("b", working)}, 3, want{"False Rolling", "True Rolling", "False WithinDeadline", status.InProgressStatus}},
		"waiting within its deadline":           {[]lifecycleState{in("a", waiting, func(s *lifecycleState) { s.entry.Deadline = at(time.Second) })}, 3, want{"False AwaitingSync", "True AwaitingSync", "False WithinDeadline", status.InProgressStatus}},
		"waiting at its deadline":               {[]lifecycleState{in("a", waiting, overdue)}, 3, want{"False AwaitingSync", "False DeadlinePassed", "True DeadlinePassed", status.FailedStatus}},
		"loops without progress":                {[]lifecycleState{in("a", working, looping)}, 3, want{"False Rolling", "False NoProgress", "True NoProgress", status.FailedStatus}},
		"refused":                               {[]lifecycleState{in("a", resting), in("b", refusing)}, 3, want{"False Refused", "False Refused", "True Refused", status.FailedStatus}},
		"refused wins over working":             {[]lifecycleState{in("a", working), in("b", refusing)}, 3, want{"False Refused", "False Refused", "True Refused", status.FailedStatus}},
		"planned hold":                          {[]lifecycleState{in("a", soaking)}, 3, settled},
		"planned hold past its end":             {[]lifecycleState{in("a", soaking, overdue)}, 3, settled},
		"advice":                                {[]lifecycleState{in("a", advising)}, 3, settled},
		"planned hold beside work":              {[]lifecycleState{in("a", soaking), in("b", working)}, 3, want{"False Rolling", "True Rolling", "False WithinDeadline", status.InProgressStatus}},
		"a state nobody knows":                  {[]lifecycleState{in("a", resting, unknown)}, 3, want{"False UnknownState", "False UnknownState", "True UnknownState", status.FailedStatus}},
		"a defective machine at rest":           {[]lifecycleState{in("a", resting, func(s *lifecycleState) { s.defect = errors.New("it panicked") })}, 3, want{"False Defect", "False Defect", "True Defect", status.FailedStatus}},
		"a defective machine without any entry": {[]lifecycleState{{name: "a", defect: errors.New("it panicked")}}, 3, want{"False Defect", "False Defect", "True Defect", status.FailedStatus}},
	} {
		t.Run(name, func(t *testing.T) {
			got := conditions(c.all, nil, nil, 3, c.observed, noon)
			brief := map[string]string{}
			for _, g := range got {
				brief[g.Type] = string(g.Status) + " " + g.Reason
			}
			seen := want{brief[Ready], brief[Reconciling], brief[Stalled], kstatusOf(t, got, c.observed)}
			if diff := cmp.Diff(c.want, seen, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A lifecycle without an entry says nothing about why: a failed read, which an instance of it shows, does.
func TestConditionsSayWhyALifecycleIsNotObserved(t *testing.T) {
	unread := func(s *lifecycleState) {
		s.entry.UnknownSince, s.entry.WaitingFor = at(-time.Second), []lifecyclev1.WaitingFor{{Guard: "differs", Observed: "cannot be read: no answer"}}
	}
	for name, c := range map[string]struct {
		all  []lifecycleState
		want string
	}{
		"nothing is known":            {[]lifecycleState{{name: "a"}, in("b", resting)}, "a: not looked at yet"},
		"a read has failed":           {[]lifecycleState{{name: "a"}, in("a/one", resting, unread)}, "a: not looked at yet; a/one: differs: cannot be read: no answer"},
		"its instances are not known": {[]lifecycleState{{name: "a", unlisted: "parts cannot be read: no answer"}, in("b", resting)}, "a: its instances are not known: parts cannot be read: no answer"},
		"a read of one that works":    {[]lifecycleState{in("a", working), in("b", resting, unread)}, "a: nodes restart"},
	} {
		if diff := cmp.Diff(c.want, conditions(c.all, nil, nil, 3, 3, noon)[1].Message); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A system that cannot be read is shown by Ready at once, also while it is True: after a deadline it is not any more.
func TestReadyShowsAFailedReadAtRest(t *testing.T) {
	unread := func(s *lifecycleState) {
		s.entry.UnknownSince, s.entry.WaitingFor = at(-time.Second), []lifecyclev1.WaitingFor{{Guard: "differs", Observed: "cannot be read: no answer"}}
	}
	for name, c := range map[string]struct {
		all  []lifecycleState
		want string
	}{
		"all is read":     {[]lifecycleState{in("a", resting)}, "no lifecycle is under way"},
		"one read failed": {[]lifecycleState{in("a", resting), in("b", resting, unread)}, "no lifecycle is under way; b: differs: cannot be read: no answer"},
		"all reads failed": {
			[]lifecycleState{in("a", resting, unread), in("b", resting, unread), in("c", resting, unread)},
			"no lifecycle is under way; a: differs: cannot be read: no answer; 2 more cannot decide",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ready := conditions(c.all, nil, nil, 3, 3, noon)[0]
			if diff := cmp.Diff(c.want, ready.Message); diff != "" || ready.Status != metav1.ConditionTrue {
				t.Errorf("Ready is %s (-want +got):\n%s", ready.Status, diff)
			}
		})
	}
}

// kstatusOf returns the status that kubectl wait, Flux and Argo CD derive from the conditions.
func kstatusOf(t *testing.T, conditions []metav1.Condition, observed int64) status.Status {
	t.Helper()
	object := struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Status            lifecyclev1.Status `json:"status"`
	}{
		metav1.TypeMeta{APIVersion: "x/v1", Kind: "X"}, metav1.ObjectMeta{Name: "x", Generation: 3},
		lifecyclev1.Status{ObservedGeneration: observed, Conditions: conditions},
	}
	plain, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(&object)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: plain})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}

func TestConditionsAreNeverReconcilingAndStalled(t *testing.T) {
	kinds := []states.State{resting, working, waiting, refusing, soaking, advising}
	for _, a := range kinds {
		for _, b := range kinds {
			for _, deadline := range []time.Duration{-time.Second, time.Second} {
				for _, edges := range []int32{0, 65} {
					change := func(s *lifecycleState) { s.entry.Deadline, s.entry.TransitionsSinceProgress = at(deadline), edges }
					got := conditions([]lifecycleState{in("a", a, change), in("b", b, change)}, nil, nil, 1, 1, noon)
					seen := map[string]int{}
					for _, c := range got {
						if c.Status == metav1.ConditionTrue {
							seen[c.Type]++
						}
					}
					if seen[Reconciling]+seen[Stalled]+seen[Ready] != 1 {
						t.Errorf("%s and %s: %v, want one of Ready, Reconciling and Stalled", a.Name, b.Name, seen)
					}
				}
			}
		}
	}
}

func TestConditionsOfAHoldWithoutRefusal(t *testing.T) {
	for name, c := range map[string]struct {
		all  []lifecycleState
		want []string
	}{
		"planned":         {[]lifecycleState{in("a", soaking)}, []string{"AwaitingApproval Soaking"}},
		"advice":          {[]lifecycleState{in("a", advising)}, []string{"Warning MetadataRefused"}},
		"refusal":         {[]lifecycleState{in("a", refusing)}, nil},
		"two are planned": {[]lifecycleState{in("a", soaking), in("b", soaking)}, []string{"AwaitingApproval Soaking"}},
		"both":            {[]lifecycleState{in("a", soaking), in("b", advising)}, []string{"AwaitingApproval Soaking", "Warning MetadataRefused"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, g := range conditions(c.all, nil, nil, 1, 1, noon) {
				if g.Type == AwaitingApproval || g.Type == Warning {
					got = append(got, g.Type+" "+g.Reason)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOverlayReplacesAdvice checks that the Warning of a kind is shown, and not the advice of a machine with the same reason.
func TestOverlayReplacesAdvice(t *testing.T) {
	own := metav1.Condition{Type: Warning, Status: metav1.ConditionTrue, Reason: advising.Name, Message: "what to do"}
	var got []string
	for _, c := range conditions([]lifecycleState{in("a", advising)}, []metav1.Condition{own}, nil, 1, 1, noon) {
		if c.Type == Warning {
			got = append(got, c.Message)
		}
	}
	if diff := cmp.Diff([]string{own.Message}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverlayLowersReadyAndNeverRaisesIt(t *testing.T) {
	lower := metav1.Condition{Type: Ready, Status: metav1.ConditionFalse, Reason: "NoQuorum", Message: "1 of 3"}
	raise := metav1.Condition{Type: Ready, Status: metav1.ConditionTrue, Reason: "Fine"}
	calm := metav1.Condition{Type: Stalled, Status: metav1.ConditionFalse, Reason: "Fine"}
	for name, c := range map[string]struct {
		state states.State
		own   metav1.Condition
		want  string
	}{
		"lowers it":            {resting, lower, "False NoQuorum"},
		"cannot raise it":      {working, raise, "False Rolling"},
		"cannot calm a stall":  {refusing, calm, "False Refused"},
		"cannot give a reason": {working, lower, "False Rolling"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, got := range conditions([]lifecycleState{in("a", c.state)}, []metav1.Condition{c.own}, nil, 1, 1, noon) {
				if got.Type == Ready && string(got.Status)+" "+got.Reason != c.want {
					t.Errorf("Ready is %s %s, want %s", got.Status, got.Reason, c.want)
				}
				if got.Type == Stalled && got.Reason == "Fine" {
					t.Error("Stalled was overruled")
				}
			}
		})
	}
}

func TestSettleKeepsWhatDidNotChange(t *testing.T) {
	old := []metav1.Condition{
		{Type: Paused, Status: metav1.ConditionTrue, Reason: "Annotation", LastTransitionTime: *at(-time.Hour)},
		{Type: Ready, Status: metav1.ConditionTrue, Reason: "Settled", LastTransitionTime: *at(-time.Hour)},
		{Type: Warning, Status: metav1.ConditionTrue, Reason: "Old", LastTransitionTime: *at(-time.Hour)},
	}
	fresh := []metav1.Condition{
		{Type: Warning, Status: metav1.ConditionTrue, Reason: "Young"},
		{Type: Warning, Status: metav1.ConditionTrue, Reason: "Old", Message: strings.Repeat("ä", maxMessage)},
		{Type: Warning, Status: metav1.ConditionTrue, Reason: "Old", Message: "said twice"},
		{Type: Stalled, Status: metav1.ConditionFalse, Reason: "WithinDeadline"},
		{Type: Ready, Status: metav1.ConditionTrue, Reason: "Other"},
	}
	var got []string
	for _, c := range settle(fresh, old, 7, noon) {
		if c.ObservedGeneration != 7 || len(c.Message) > maxMessage {
			t.Errorf("%s: observed %d, %d bytes", c.Type, c.ObservedGeneration, len(c.Message))
		}
		got = append(got, c.Type+" "+c.Reason+" "+c.LastTransitionTime.Sub(noon).String())
	}
	want := []string{"Paused Annotation -1h0m0s", "Ready Other -1h0m0s", "Stalled WithinDeadline 0s", "Warning Old -1h0m0s", "Warning Young 0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMessageNamesWhatIsWaitedFor(t *testing.T) {
	entry := func(do func(*lifecyclev1.Lifecycle)) func(*lifecycleState) {
		return func(s *lifecycleState) { do(s.entry) }
	}
	attempt := &lifecyclev1.Attempt{From: "4.0.0", To: "4.1.1"}
	for name, c := range map[string]struct {
		lifecycleState lifecycleState
		want           string
	}{
		"never seen": {lifecycleState{name: "version"}, "version: not looked at yet"},
		"no reason":  {in("version", working), "version: nodes restart"},
		"an attempt": {in("version", working, entry(func(e *lifecyclev1.Lifecycle) { e.Attempt = attempt })), "version 4.0.0 -> 4.1.1: nodes restart"},
		"from nowhere": {in("version", working, entry(func(e *lifecyclev1.Lifecycle) { e.Attempt = &lifecyclev1.Attempt{To: "4.1.1"} })),
			"version 4.1.1: nodes restart"},
		"waiting": {in("version", waiting, entry(func(e *lifecyclev1.Lifecycle) {
			e.Attempt = attempt
			e.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "in-sync", Expected: "no partition at risk", Observed: "audit-0"}, {Guard: "ready", Expected: "a ready pod"}}
			e.Progress = &lifecyclev1.Progress{Done: 2, Total: 6, Unit: "node"}
		})), "version 4.0.0 -> 4.1.1: in-sync: audit-0; ready: expected a ready pod; 2 of 6 nodes done"},
		"unknown": {in("version", resting, func(s *lifecycleState) { s.known, s.entry.Machine = false, "m@sha256:1" }),
			`version: state "Settled" of machine m@sha256:1 is unknown to this release`},
		"defect": {lifecycleState{name: "version", defect: errors.New("reading a fact")}, "version: the machine is defective and stays where it is: reading a fact"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.lifecycleState.message()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummariseNamesTheFirstLifecycleNotAtRest(t *testing.T) {
	progress := func(s *lifecycleState) { s.entry.Progress = &lifecyclev1.Progress{Done: 2, Total: 6, Unit: "node"} }
	for name, c := range map[string]struct {
		all  []lifecycleState
		want *lifecyclev1.Summary
	}{
		"nothing is known": {[]lifecycleState{{name: "a"}}, nil},
		"all rest":         {[]lifecycleState{in("a", resting, progress), in("b", resting)}, &lifecyclev1.Summary{Lifecycle: "a", State: "Settled", Since: *at(-time.Minute)}},
		"one works": {[]lifecycleState{in("a", resting), in("b", working, progress)},
			&lifecyclev1.Summary{Lifecycle: "b", State: "Rolling", Since: *at(-time.Minute), Progress: "2/6 node"}},
		"one holds": {[]lifecycleState{in("a", resting), in("b", soaking)}, &lifecyclev1.Summary{Lifecycle: "b", State: "Soaking", Since: *at(-time.Minute)}},
		"one is unknown": {[]lifecycleState{in("a", resting), in("b", resting, func(s *lifecycleState) { s.known, s.entry.State = false, "Nowhere" })},
			&lifecyclev1.Summary{Lifecycle: "b", State: "Nowhere", Since: *at(-time.Minute)}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, summarise(c.all, nil)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
