// Package explore runs a kind's real code, the runtime's included, through everything that may happen to it, and tells the
// shortest story of what goes wrong.
//
// A state is what is stored in the API, what the operator's cache shows of it, what the operator's process remembers, and the
// world outside. From each state everything that may happen next is tried: the operator takes a pass, which may die before or
// after each of its writes and effects, lose a reply, or be refused; the cache shows one object and not yet another; a person
// changes or pauses the object, or wipes its status; somebody removes a child; the world moves on, or fails; time passes.
// States that differ in nothing that matters are one: what is compared are relations and ages in steps, never times or
// revisions. What takes fewer faults is searched first, and then what takes fewer steps, so that a story is as short as it can be;
// and the search repeats itself.
//
// Safety is asked of every state and every effect. Liveness is asked as well: once nothing goes wrong any more, every state
// that was reached must come to rest, or hold for a person, within a stated number of passes and time, by waking up by itself.
//
// A user's machine gets all of it from Run with a Subject of a few lines.
package explore
