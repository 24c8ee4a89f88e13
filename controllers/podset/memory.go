package podset

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// uids remembers which object each name stood for, since a request for an object that is gone carries its name alone. The
// zero value is ready.
type uids struct {
	mu     sync.Mutex
	byName map[types.NamespacedName]types.UID
}

// saw notes the object of the name, and returns the UID of an earlier object of that name; empty if there was none.
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

// gone forgets the name, and returns the UID that it stood for; empty if it is unknown.
func (u *uids) gone(name types.NamespacedName) types.UID {
	u.mu.Lock()
	defer u.mu.Unlock()
	uid := u.byName[name]
	delete(u.byName, name)
	return uid
}
