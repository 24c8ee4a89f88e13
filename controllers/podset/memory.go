package podset

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// uids remembers the UID of each name, because a request for a deleted object contains only its name. The zero value is ready to
// use.
type uids struct {
	mu     sync.Mutex
	byName map[types.NamespacedName]types.UID
}

// saw stores the UID of the name, and returns the UID of an earlier object of that name; empty if there was none.
func (u *uids) saw(name types.NamespacedName, uid types.UID) (earlier types.UID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byName == nil {
		u.byName = map[types.NamespacedName]types.UID{}
	}
	earlier = u.byName[name]
	u.byName[name] = uid
	if earlier == uid {
		return ""
	}
	return earlier
}

// gone removes the name, and returns its UID; empty if it is unknown.
func (u *uids) gone(name types.NamespacedName) types.UID {
	u.mu.Lock()
	defer u.mu.Unlock()
	uid := u.byName[name]
	delete(u.byName, name)
	return uid
}
