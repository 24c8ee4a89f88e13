// Package explore runs the real code of a kind and of the runtime through every order of events and faults, and reports the
// shortest story that leads to a defect.
//
// A state consists of what the API server stores, what the operator's cache shows of it, what the operator's process has in
// memory, and the world outside the API. From each state every possible next step is tried: a reconcile, which may crash before
// or after each of its writes and effects, lose a response, or be refused; the cache observes one object and not yet another; a
// user changes or pauses the object, or wipes its status; a child is deleted; the world changes, or fails; time passes. States
// that differ only in irrelevant details are equal: relations and ages in steps are compared, never times or revisions. Steps
// with fewer faults are searched first, and then shorter paths, so that a story is as short as possible. The search is
// deterministic.
//
// Safety is checked in every state and on every effect. Liveness is checked as well: once no further fault is injected, every
// state must reach a Rest or a Hold within a stated number of reconciles and time, by requeues alone.
//
// A user's machine gets all of this from Run with a Subject of a few lines. External is the World of a kind that uses one external
// system.
package explore
