// Package campaign injects every fault at every effect and event of an operator, on a real API server. A change of an object at
// rest is run several times without a fault, which shows the places where faults can be injected, and then once per fault and
// place. Each run has its own namespace, operator and external systems. It must end like the runs without a fault, and is
// judged by every version of every object that the API server showed.
package campaign
