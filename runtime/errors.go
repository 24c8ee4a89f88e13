package runtime

import "errors"

var (
	// ErrWait says that an effect cannot be performed yet (an eviction answered 429, say): the state stays, without back-off.
	ErrWait = errors.New("not possible yet")
	// ErrBehind says that a cache has not seen our own last write. The pass ends and is taken again soon.
	ErrBehind = errors.New("the cache is behind our own last write")
)
