package repository

// Watch looks at paths again and again.
type Watch struct {
	paths  []string
	policy Policy
	last   map[File]bool // what was there when it looked before
}

// NewWatch returns a watch that has not looked yet.
func NewWatch(paths []string, p Policy) *Watch { return &Watch{paths: paths, policy: p} }

// Look returns what scan does, and which of the files are as they were when
// Look was called before: of the same size and time.
func (w *Watch) Look() (files []File, still []bool, err error) {
	files, err = scan(w.paths, w.policy)
	if err != nil {
		return nil, nil, err
	}
	now := map[File]bool{}
	for _, f := range files {
		now[f] = true
		still = append(still, w.last[f])
	}
	w.last = now
	return files, still, nil
}
