package kernel

// chainSegment is a part of each chain: values [k0, k1) of taps [t0, t1). If runs are cut, it has only one
// tap.
type chainSegment struct{ t0, t1, k0, k1 int }

// taps returns the set of taps of the segment, one bit for each.
func (s *chainSegment) taps() uint64 { return (1<<(s.t1-s.t0) - 1) << s.t0 }

// values returns the number of values of the segment.
func (s *chainSegment) values() int { return (s.t1 - s.t0) * (s.k1 - s.k0) }

// slabValues is the maximum number of values of a segment.
const slabValues = 512

// cutChains returns the segments of the chains of a window.
func (w *Window) cutChains(segments []chainSegment) []chainSegment {
	segments = segments[:0]
	if w.Run > slabValues {
		count := (w.Run + slabValues - 1) / slabValues
		for t := range w.Taps {
			for i := range count {
				segments = append(segments, chainSegment{t, t + 1, w.Run * i / count, w.Run * (i + 1) / count})
			}
		}
		return segments
	}
	some := max(1, slabValues/max(w.Run, 1))
	count := (w.Taps + some - 1) / some
	for i := range count {
		segments = append(segments, chainSegment{w.Taps * i / count, w.Taps * (i + 1) / count, 0, w.Run})
	}
	return segments
}
