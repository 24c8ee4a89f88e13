// Package campaign lets every fault strike at every effect and event of an operator's way, on a real API server: a change of an
// object that rests is run some times without a fault, which says where faults can strike; then once per fault and place. Each run has
// a namespace, an operator and an outside world of its own, must end like the run without a fault, and is judged by all that the
// API server ever showed of it.
package campaign
