package run

// Changes returns a function that reports whether a value may have changed since its
// previous call. A value other than state may always have changed.
func Changes(values ...*Value) func() bool {
	stamps := make([]uint64, len(values))
	return func() bool {
		changed := false
		for i, v := range values {
			if v.state == nil || stamps[i] != v.state.Stamp() {
				changed = true
			}
			if v.state != nil {
				stamps[i] = v.state.Stamp()
			}
		}
		return changed
	}
}
