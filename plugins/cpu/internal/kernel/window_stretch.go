package kernel

// stretch is values [k0, k1) of the runs of taps [t0, t1): of one tap if runs are cut.
type stretch struct{ t0, t1, k0, k1 int }

// taps returns the set of taps.
func (s *stretch) taps() uint64 { return (1<<(s.t1-s.t0) - 1) << s.t0 }

// values returns how many values it has.
func (s *stretch) values() int { return (s.t1 - s.t0) * (s.k1 - s.k0) }

// slabValues is the most values of a stretch.
const slabValues = 512

// cut returns the stretches of the chains of a window.
func (w *Window) cut(room []stretch) []stretch {
	room = room[:0]
	if w.Run > slabValues {
		parts := (w.Run + slabValues - 1) / slabValues
		for t := range w.Taps {
			for i := range parts {
				room = append(room, stretch{t, t + 1, w.Run * i / parts, w.Run * (i + 1) / parts})
			}
		}
		return room
	}
	some := max(1, slabValues/max(w.Run, 1))
	parts := (w.Taps + some - 1) / some
	for i := range parts {
		room = append(room, stretch{w.Taps * i / parts, w.Taps * (i + 1) / parts, 0, w.Run})
	}
	return room
}
