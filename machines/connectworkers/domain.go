package connectworkers

import (
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/transitions"
)

// Domain returns the domain over which the machine is verified: two workers.
func Domain() domain.Domain[Facts, Data] {
	type value = domain.Value[Facts]
	worker := func(i int) domain.Dimension[Facts] {
		of := func(name string, w Worker) value {
			return value{Name: name, Set: func(f *Facts) {
				w.Name = f.Workers[i].Name
				f.Workers[i] = w
			}}
		}
		return domain.Of(value{}, of("outdated", Worker{Exists: true, Ready: true, Outdated: true}), of("outdated and not ready", Worker{Exists: true, Outdated: true}),
			of("starting", Worker{Exists: true}), of("in trouble", Worker{Exists: true, Trouble: transitions.Problemf("ImagePull", "no such image")}), of("without a pod", Worker{}))
	}
	return domain.Domain[Facts, Data]{
		Base: func() Facts {
			return Facts{Version: "4.1.1", Wanted: "w1", Workers: []Worker{{Name: "w-0", Exists: true, Ready: true}, {Name: "w-1", Exists: true, Ready: true}}}
		},
		Dimensions: []domain.Dimension[Facts]{
			worker(0), worker(1),
			domain.Of(value{}, value{Name: "invalid spec", Set: func(f *Facts) { f.Problem = transitions.Problemf("InvalidSpec", "no bootstrap") }},
				value{Name: "another version", Set: func(f *Facts) { f.Version = "4.1.2" }}),
		},
		Data: func(state string) []Data {
			if state == Replacing {
				return []Data{{Worker: "w-0"}, {Worker: "w-9"}}
			}
			return []Data{{}}
		},
		Enter: func(*Facts, *lifecyclev1.Lifecycle) {},
	}
}
