package machines

import (
	"strings"
	"time"

	"github.com/detent-dev/detent/transitions"
)

// breakage is one defect of the toy.
type breakage struct {
	breaks func(*toyDefinition)
	// where and remedy are parts of the message.
	where, remedy string
	// want are the kinds of the findings; no others are expected.
	want []string
}

func textless(g toyGuard) toyGuard {
	g.Expected = ""
	return g
}

var breakages = map[string]breakage{
	"a machine's name with a quote": {
		breaks: func(d *toyDefinition) { d.Name = `toy"version` },
		where:  `machine toy"version`, remedy: "kebab-case", want: []string{"ErrName"},
	},
	"a state's name with a space": {
		breaks: func(d *toyDefinition) {
			d.States[refused].Name = "Not allowed"
			d.Transitions[pathForbidden].To = "Not allowed"
			d.Transitions[pathOpened].From = "Not allowed"
		},
		where: "state Not allowed", remedy: "UpperCamelCase", want: []string{"ErrName"},
	},
	"a state's name of 65 characters": {
		breaks: func(d *toyDefinition) {
			long := "R" + strings.Repeat("e", 64)
			d.States[refused].Name, d.Transitions[pathForbidden].To, d.Transitions[pathOpened].From = long, long, long
		},
		where: "state Reee", remedy: "at most 64", want: []string{"ErrName"},
	},
	"a kind that does not exist": {
		breaks: func(d *toyDefinition) {
			d.States[settled].Kind = "Idle"
			d.States[settled].OnTargetChange = KeepAttempt
		},
		where: "state Settled", remedy: `kind "Idle"`, want: []string{"ErrName"},
	},
	"an event's name with an underscore, as callbacks have": {
		breaks: func(d *toyDefinition) { d.Transitions[raisedRow].Event = "before_event" },
		where:  "before_event from Raising", remedy: "kebab-case", want: []string{"ErrName"},
	},
	"an action's name in camel case": {
		breaks: func(d *toyDefinition) { d.States[raising].Action.Name = "raiseLevel" },
		where:  "state Raising action raiseLevel", remedy: "kebab-case", want: []string{"ErrName"},
	},
	"a guard's name with a space": {
		breaks: func(d *toyDefinition) { g := raised; g.Name = "is raised"; d.Transitions[raisedRow].When = g },
		where:  "transition raised from Raising guard is raised", remedy: "kebab-case", want: []string{"ErrName"},
	},
	"a need without a name": {
		breaks: func(d *toyDefinition) { d.Needs = append(d.Needs, Need{Doc: "x"}) },
		where:  "need ", remedy: "kebab-case", want: []string{"ErrName", "ErrUnusedNeed"},
	},
	"a unit too long for the status": {
		breaks: func(d *toyDefinition) { d.Progress.Unit = strings.Repeat("n", 33) },
		where:  "progress unit nnn", remedy: "at most 32", want: []string{"ErrName"},
	},
	"a machine without a doc": {
		breaks: func(d *toyDefinition) { d.Doc = "" }, where: "machine toy-version", remedy: "one sentence", want: []string{"ErrMissingDoc"},
	},
	"a state without a doc": {
		breaks: func(d *toyDefinition) { d.States[soaking].Doc = "" }, where: "state Soaking", remedy: "one sentence", want: []string{"ErrMissingDoc"},
	},
	"a transition with a combined guard and without a doc": {
		breaks: func(d *toyDefinition) {
			d.Transitions[soakedRow].When, d.Transitions[soakedRow].Doc = transitions.All(inSync, raised), ""
		},
		where: "transition soaked from Soaking", remedy: "one sentence", want: []string{"ErrMissingDoc"},
	},
	"a guard without a doc": {
		breaks: func(d *toyDefinition) { g := raised; g.Doc = ""; d.Transitions[raisedRow].When = g },
		where:  "guard raised", remedy: "when it says yes", want: []string{"ErrMissingDoc"},
	},
	"a need without a doc": {
		breaks: func(d *toyDefinition) { d.Needs[0].Doc = "" }, where: "need sync", remedy: "requested from which system", want: []string{"ErrMissingDoc"},
	},
	"a state declared twice": {
		breaks: func(d *toyDefinition) { d.States = append(d.States, d.States[refused]) },
		where:  "state Refused", remedy: "declare it once", want: []string{"ErrDuplicateState"},
	},
	"a migration of a state that is still there": {
		breaks: func(d *toyDefinition) { d.Migrations["Soaking"] = "Checking" },
		where:  "migration of Soaking", remedy: "needs no migration", want: []string{"ErrDuplicateState"},
	},
	"a state with the name of the built-in one": {
		breaks: func(d *toyDefinition) {
			d.States[refused].Name, d.Transitions[pathForbidden].To, d.Transitions[pathOpened].From = Inferring, Inferring, Inferring
		},
		where: "state Inferring", remedy: "without declaring it", want: []string{"ErrReservedName"},
	},
	"an event with a name of the framework": {
		breaks: func(d *toyDefinition) { d.Transitions[soakedRow].Event = EventPreconditionFailed },
		where:  "precondition-failed from Soaking", remedy: "choose another name", want: []string{"ErrReservedName"},
	},
	"a state that nothing leads to": {
		breaks: func(d *toyDefinition) { d.Transitions[pathForbidden].To = "Checking" },
		where:  "state Refused", remedy: "declare a transition to it", want: []string{"ErrUnreachable"},
	},
	"work that cannot be left": {
		breaks: func(d *toyDefinition) { d.Transitions[raisedRow].From = "Soaking" },
		where:  "state Raising", remedy: "give it a transition", want: []string{"ErrNoWayOut"},
	},
	"work that leads only to itself": {
		breaks: func(d *toyDefinition) { d.Transitions[raisedRow].To = "Raising" },
		where:  "state Raising", remedy: "give it a transition", want: []string{"ErrNoWayOut"},
	},
	"a hold that neither an edge nor a changed target leaves": {
		breaks: func(d *toyDefinition) {
			d.Transitions[pathOpened].From = "Checking"
			d.States[refused].OnTargetChange = KeepAttempt
		},
		where: "state Refused", remedy: "changed target lead out", want: []string{"ErrNoWayOut"},
	},
	"a rest for ever": {
		breaks: func(d *toyDefinition) { d.Transitions[versionChanged].From = "Raising" },
		where:  "state Settled", remedy: "transition that leaves it", want: []string{"ErrRestForEver"},
	},
	"a transition from a state that is not there": {
		breaks: func(d *toyDefinition) { d.Transitions[pathOpened].From = "Refusing" },
		where:  "path-opened from Refusing", remedy: `declare state "Refusing"`, want: []string{"ErrUndeclaredState"},
	},
	"a transition to a state that is not there": {
		breaks: func(d *toyDefinition) { d.Transitions[pathOpened].To = "Checked" },
		where:  "path-opened from Refused", remedy: `declare state "Checked"`, want: []string{"ErrUndeclaredState"},
	},
	"OnTargetChange that is not there": {
		breaks: func(d *toyDefinition) { d.States[soaking].OnTargetChange = "Checked" },
		where:  "OnTargetChange of state Soaking", remedy: `declare state "Checked"`, want: []string{"ErrUndeclaredState"},
	},
	"OnPreconditionFailed that is not there": {
		breaks: func(d *toyDefinition) { d.States[raising].Action.OnPreconditionFailed = "Checked" },
		where:  "OnPreconditionFailed of state Raising", remedy: `declare state "Checked"`, want: []string{"ErrUndeclaredState"},
	},
	"an inferred state that is not there": {
		breaks: func(d *toyDefinition) { d.Infer.States = append(d.Infer.States, "Checked") },
		where:  "Infer", remedy: `declare state "Checked"`, want: []string{"ErrUndeclaredState"},
	},
	"two edges of one state with one name": {
		breaks: func(d *toyDefinition) { d.Transitions[allDone].Event = "node-selected" },
		where:  "node-selected from Checking", remedy: "its own event", want: []string{"ErrDuplicateEdge"},
	},
	"a transition without a guard": {
		breaks: func(d *toyDefinition) { d.Transitions[soakedRow].When = toyGuard{} },
		where:  "soaked from Soaking", remedy: "When or Choose", want: []string{"ErrMissingGuard"},
	},
	"a choice that picks nothing": {
		breaks: func(d *toyDefinition) {
			d.Transitions[nodeSelected].Choose = &Choice[toyFacts, toyData]{Guard: nextNode.Guard}
		},
		where: "node-selected from Checking", remedy: "When or Choose", want: []string{"ErrMissingGuard"},
	},
	"a guard within a combination that does not ask": {
		breaks: func(d *toyDefinition) {
			g := raised
			g.Evaluate = nil
			d.Transitions[raisedRow].When = transitions.All(inSync, g)
		},
		where: "guard raised", remedy: "give it Evaluate", want: []string{"ErrMissingGuard"},
	},
	"both When and Choose": {
		breaks: func(d *toyDefinition) { d.Transitions[nodeSelected].When = onTargetChange },
		where:  "node-selected from Checking", remedy: "keep When or Choose", want: []string{"ErrTwoGuards"},
	},
	"a choice whose guard asks too": {
		breaks: func(d *toyDefinition) {
			c := nextNode
			c.Guard.Evaluate = onTargetChange.Evaluate
			d.Transitions[nodeSelected].Choose = &c
		},
		where: "node-selected from Checking", remedy: "drop Evaluate", want: []string{"ErrTwoGuards"},
	},
	"a wait without a deadline": {
		breaks: func(d *toyDefinition) { d.States[checking].Deadline = 0 },
		where:  "state Checking", remedy: "is Stalled", want: []string{"ErrMissingDeadline"},
	},
	"work without an action": {
		breaks: func(d *toyDefinition) { d.States[restarting].Action = nil },
		where:  "state Restarting", remedy: "give it an action", want: []string{"ErrMissingAction"},
	},
	"an action that does nothing": {
		breaks: func(d *toyDefinition) { d.States[restarting].Action.Effects = nil },
		where:  "state Restarting", remedy: "action restart has no Effects", want: []string{"ErrMissingAction"},
	},
	"a back-off whose longest pause is less than its first": {
		breaks: func(d *toyDefinition) {
			d.States[restarting].Backoff.Min, d.States[restarting].Backoff.Max = time.Hour, time.Minute
		},
		where: "state Restarting", remedy: "the Max of its Backoff is 1m0s, less than its Min of 1h0m0s", want: []string{"ErrBackoff"},
	},
	"an action in a wait": {
		breaks: func(d *toyDefinition) { d.States[soaking].Action = d.States[restarting].Action },
		where:  "state Soaking", remedy: "only Work acts", want: []string{"ErrMisplacedAction"},
	},
	"an action that needs the finalizer of a machine without a deletion": {
		breaks: func(d *toyDefinition) { d.States[raising].Action.NeedsFinalizer = true },
		where:  "action raise", remedy: "declare Deletion", want: []string{"ErrDeletion"},
	},
	"an outcome that no transition observes": {
		breaks: func(d *toyDefinition) { d.States[raising].Action.ResolvedBy = "sync" },
		where:  "action of Raising", remedy: "no transition from Raising reads sync", want: []string{"ErrResolvedBy"},
	},
	"a wait without Invariant": {
		breaks: func(d *toyDefinition) { d.States[soaking].Invariant = toyGuard{} },
		where:  "state Soaking", remedy: "or use Always", want: []string{"ErrMissingInvariant"},
	},
	"work without Invariant": {
		breaks: func(d *toyDefinition) { d.States[raising].Invariant = toyGuard{} },
		where:  "state Raising", remedy: "or use Always", want: []string{"ErrMissingInvariant"},
	},
	"a hold without OnTargetChange": {
		breaks: func(d *toyDefinition) { d.States[refused].OnTargetChange = "" },
		where:  "state Refused", remedy: "or KeepAttempt", want: []string{"ErrMissingOnTargetChange"},
	},
	"a rest with OnTargetChange, which nothing would ever take": {
		breaks: func(d *toyDefinition) { d.States[settled].OnTargetChange = "Checking" },
		where:  "state Settled", remedy: "drop OnTargetChange", want: []string{"ErrMisplacedOnTargetChange"},
	},
	"a wait that awaits nothing": {
		breaks: func(d *toyDefinition) { d.Transitions[soakedRow].Awaited = false },
		where:  "state Soaking", remedy: "as Awaited", want: []string{"ErrNothingAwaited"},
	},
	"a one-way edge into an action that asks for no permission": {
		breaks: func(d *toyDefinition) {
			d.States[raising].Action.Precondition, d.States[raising].Action.OnPreconditionFailed = toyGuard{}, ""
		},
		where: "soaked from Soaking", remedy: "the action of Raising needs Precondition", want: []string{"ErrMissingPrecondition"},
	},
	"a quiet edge that cannot be undone": {
		breaks: func(d *toyDefinition) { d.Transitions[soakedRow].Quiet = true },
		where:  "soaked from Soaking", remedy: "drop Quiet", want: []string{"ErrQuiet"},
	},
	"a way back that no permission takes": {
		breaks: func(d *toyDefinition) { d.States[restarting].Action.Precondition = toyGuard{} },
		where:  "state Restarting", remedy: "or drop OnPreconditionFailed", want: []string{"ErrMissingPrecondition"},
	},
	"a permission without a way back": {
		breaks: func(d *toyDefinition) { d.States[restarting].Action.OnPreconditionFailed = "" },
		where:  "state Restarting", remedy: "when Precondition says no", want: []string{"ErrMissingOnPreconditionFailed"},
	},
	"a guard without Want": {
		breaks: func(d *toyDefinition) { d.Transitions[raisedRow].When = textless(raised) },
		where:  "guard raised", remedy: "waitingFor shows", want: []string{"ErrMissingExpected"},
	},
	"a negation without a text of its own, deep in a combination": {
		breaks: func(d *toyDefinition) {
			d.Transitions[raisedRow].When = transitions.Any(raised, transitions.Not(inSync, ""))
		},
		where: "guard not(in-sync)", remedy: "negated expectation", want: []string{"ErrMissingExpected"},
	},
	"a guard in Precondition that needs what is not declared": {
		breaks: func(d *toyDefinition) {
			g := onTargetChange
			g.Name, g.Needs = "on-target-live", []transitions.Need{"pods"}
			d.States[raising].Action.Precondition = g
		},
		where: "Precondition of Raising", remedy: `declare "pods"`, want: []string{"ErrUndeclaredNeed"},
	},
	"an action that needs what is not declared": {
		breaks: func(d *toyDefinition) {
			d.States[raising].Action.Needs = append(d.States[raising].Action.Needs, "pods")
		},
		where: "action of Raising", remedy: `declare "pods"`, want: []string{"ErrUndeclaredNeed"},
	},
	"a target that needs what is not declared": {
		breaks: func(d *toyDefinition) { d.TargetNeeds = []transitions.Need{"pods"} }, where: "target", remedy: `declare "pods"`, want: []string{"ErrUndeclaredNeed"},
	},
	"Infer that needs what is not declared": {
		breaks: func(d *toyDefinition) { d.Infer.Needs = append(d.Infer.Needs, "pods") }, where: "infer", remedy: `declare "pods"`, want: []string{"ErrUndeclaredNeed"},
	},
	"progress that needs what is not declared": {
		breaks: func(d *toyDefinition) { d.Progress.Needs = []transitions.Need{"pods"} }, where: "progress", remedy: `declare "pods"`, want: []string{"ErrUndeclaredNeed"},
	},
	"a need that nothing reads": {
		breaks: func(d *toyDefinition) { d.Needs = append(d.Needs, Need{Name: "pods", Doc: "asks for pods"}) },
		where:  "need pods", remedy: "drop it", want: []string{"ErrUnusedNeed"},
	},
	"no Infer": {
		breaks: func(d *toyDefinition) { d.Infer.Find = nil }, where: "machine toy-version", remedy: "give it Infer", want: []string{"ErrMissingInference"},
	},
	"Infer that may return nothing": {
		breaks: func(d *toyDefinition) { d.Infer.States = nil },
		where:  "machine toy-version", remedy: "states it may return", want: []string{"ErrMissingInference"},
	},
	"no Target": {
		breaks: func(d *toyDefinition) { d.Target = nil }, where: "machine toy-version", remedy: "in Target", want: []string{"ErrMissingTarget"},
	},
	"data that cannot be read back": {
		breaks: func(d *toyDefinition) { d.Data.Decode = nil }, where: "machine toy-version", remedy: "both Encode and Decode", want: []string{"ErrMissingDataCodec"},
	},
	"no codec for data that holds something": {
		breaks: func(d *toyDefinition) { d.Data = DataCodec[toyData]{} }, where: "machine toy-version", remedy: "both Encode and Decode", want: []string{"ErrMissingDataCodec"},
	},
	"a migration to nowhere": {
		breaks: func(d *toyDefinition) { d.Migrations["Verifying"] = "Checked" },
		where:  "migration of Verifying", remedy: `declare "Checked"`, want: []string{"ErrUndeclaredMigration"},
	},
	"a record without a home": {
		breaks: func(d *toyDefinition) { d.Records[0].Home = "" }, where: "record started", remedy: "its home outside status", want: []string{"ErrIncompleteRecord"},
	},
	"a record whose name is no name": {
		breaks: func(d *toyDefinition) { d.Records[0].Name = "started.at" }, where: "record started.at", remedy: "name records in kebab-case", want: []string{"ErrName"},
	},
	"a record that is declared twice": {
		breaks: func(d *toyDefinition) { d.Records = append(d.Records, d.Records[0]) }, where: "record started", remedy: "declare it once", want: []string{"ErrDuplicateRecord"},
	},
	"one name for two guards": {
		breaks: func(d *toyDefinition) { g := raised; g.Name = "in-sync"; d.Transitions[raisedRow].When = g },
		where:  "guard in-sync", remedy: "rename one of them", want: []string{"ErrOneNameTwoGuards"},
	},
	"a held resource that nobody declared": {
		breaks: func(d *toyDefinition) { d.Transitions[raisedRow].Releases = []string{"flag"} },
		where:  "transition raised from Raising", remedy: `declare "flag"`, want: []string{"ErrUndeclaredHeldResource"},
	},
	"a held resource that nobody takes, kept where nobody stays": {
		breaks: func(d *toyDefinition) {
			d.HeldResources, d.States[soaking].Retains = []HeldResource{{Name: "flag", Doc: "a flag"}}, []string{"flag"}
		},
		where: "state Soaking", remedy: "drop Retains", want: []string{"ErrMisplacedRetains", "ErrUnusedHeldResource"},
	},
	"everything at once": {
		breaks: func(d *toyDefinition) {
			d.Doc, d.Target, d.Transitions[soakedRow].Awaited, d.Needs[1].Name = "", nil, false, "levels"
		},
		where: `compiling machine "toy-version": 6 structural defects`, remedy: "",
		want: []string{"ErrMissingDoc", "ErrMissingTarget", "ErrNothingAwaited", "ErrUndeclaredNeed"},
	},
}
