package kubelet

import "encoding/binary"

// AppendCanonical appends everything that determines the further behaviour of the pods, and nothing else: pods with equal
// bytes behave alike. Times are written as the time remaining, in steps of grain milliseconds. It omits UIDs, addresses and
// messages, on which no behaviour depends.
func (s *Pods) AppendCanonical(dst []byte, now, grain int64) []byte {
	grain = max(grain, 1)
	until := func(at int64) int64 {
		switch {
		case at == 0:
			return 0
		case at <= now:
			return 1
		default:
			return 1 + (at-now+grain-1)/grain
		}
	}
	flag := func(yes bool) int64 {
		if yes {
			return 1
		}
		return 0
	}
	for i := range s.all {
		p := &s.all[i]
		dst = append(append(append(dst, p.Namespace...), '/'), p.Name...)
		dst = append(append(append(dst, '@'), p.Node...), 0)
		for _, n := range []int64{
			int64(p.Step), until(p.Due), int64(p.Pulls), flag(p.PullFailed), flag(p.Initialized), flag(p.StartedAt > 0), flag(p.Ready),
			until(p.ProbeAt), int64(p.Misses), int64(p.Failures), flag(p.Last.At > 0),
		} {
			dst = binary.AppendVarint(dst, n)
		}
	}
	return dst
}
