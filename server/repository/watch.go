package repository

// Watch finds the files of models below some paths, and their changes.
type Watch struct {
	paths  []string
	policy Policy
	last   map[File]bool // what was there when it looked before
}

// NewWatch returns a watch that has not looked yet.
func NewWatch(paths []string, p Policy) *Watch { return &Watch{paths: paths, policy: p} }

// Look returns the files of the versions that the policy selects, the highest
// version of each model first, and for each file whether it has the size and
// time that it had in the last call of Look. The error names the paths that
// cannot be read.
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
