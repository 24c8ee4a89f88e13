package ceph

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Health of a cluster.
type Health struct {
	// Status is HEALTH_OK, HEALTH_WARN or HEALTH_ERR. Muted codes do not count in it.
	Status string
	// Checks are the codes that are raised, sorted by code.
	Checks []Check
}

// The statuses of a cluster, and the severities of a check.
const (
	HealthOK   = "HEALTH_OK"
	HealthWarn = "HEALTH_WARN"
	HealthErr  = "HEALTH_ERR"
)

// Check is one code that is raised.
type Check struct {
	// Code such as OSD_DOWN.
	Code string
	// Severity is HEALTH_WARN or HEALTH_ERR.
	Severity string
	// Summary in one sentence. It may contain numbers that change.
	Summary string
	// Details name what is affected, at most ten.
	Details []string
	// Muted is true if an admin muted the code.
	Muted bool
}

// maxDetails limits the details of a check: they name each of a thousand OSDs.
const maxDetails = 10

// Health returns the health of the cluster with its codes.
func (c Client) Health(ctx context.Context) (Health, error) {
	return question[healthAnswer](ctx, c, "reading the health", "health", "detail")
}

type healthAnswer struct {
	Status string                  `json:"status"`
	Checks map[string]*checkAnswer `json:"checks"`
}

type checkAnswer struct {
	Severity string `json:"severity"`
	Summary  struct {
		Message string `json:"message"`
	} `json:"summary"`
	Detail []struct {
		Message string `json:"message"`
	} `json:"detail"`
	Muted bool `json:"muted"`
}

func (a healthAnswer) read() (Health, error) {
	switch a.Status {
	case HealthOK, HealthWarn, HealthErr:
	default:
		return Health{}, fmt.Errorf("the status of the health is %q", shown(a.Status))
	}
	if a.Checks == nil {
		return Health{}, missing("checks")
	}
	h := Health{Status: a.Status}
	for _, code := range slices.Sorted(maps.Keys(a.Checks)) {
		from := a.Checks[code]
		if from == nil || from.Severity != HealthWarn && from.Severity != HealthErr {
			return Health{}, fmt.Errorf("the check %s has no severity", shown(code))
		}
		check := Check{Code: code, Severity: from.Severity, Summary: shown(from.Summary.Message), Muted: from.Muted}
		for _, d := range from.Detail[:min(len(from.Detail), maxDetails)] {
			check.Details = append(check.Details, shown(d.Message))
		}
		h.Checks = append(h.Checks, check)
	}
	return h, nil
}
