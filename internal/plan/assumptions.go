package plan

import (
	"slices"
	"strings"
)

// assumptions are sentences with the objects that each applies to, in the order of their creation.
type assumptions struct{ all []assumption }

type assumption struct {
	sentence string
	objects  []string
}

func (a *assumptions) add(object, sentence string) {
	i := slices.IndexFunc(a.all, func(one assumption) bool { return one.sentence == sentence })
	if i < 0 {
		i = len(a.all)
		a.all = append(a.all, assumption{sentence: sentence})
	}
	if object != "" && !slices.Contains(a.all[i].objects, object) {
		a.all[i].objects = append(a.all[i].objects, object)
	}
}

// sentences returns the assumptions as text, with the names of all objects.
func (a *assumptions) sentences() []string {
	if a == nil {
		return nil
	}
	out := make([]string, len(a.all))
	for i, one := range a.all {
		out[i] = one.sentence
		if len(one.objects) > 0 {
			out[i] += ": " + strings.Join(one.objects, ", ")
		}
	}
	return out
}
