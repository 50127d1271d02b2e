package repository

// Watch finds the files of models below some paths, and their changes.
type Watch struct {
	paths  []string
	policy Policy
	last   map[File]bool // what was there when it looked before
	// Skipped says of what is at the paths and is no model why, as of the last look.
	Skipped []string
	// Unread is the models of which something could not be read in the last look,
	// so that what is not found of them is not known to be gone.
	Unread []string
}

// NewWatch returns a watch that has not looked yet.
func NewWatch(paths []string, p Policy) *Watch { return &Watch{paths: paths, policy: p} }

// Look returns the files of the versions that the policy selects, the highest
// version of each model first, and for each file whether it has the size and
// time that it had in the last call of Look. The error names the paths that
// cannot be read.
func (w *Watch) Look() (files []File, still []bool, err error) {
	all, err := scan(w.paths, w.policy)
	if err != nil {
		return nil, nil, err
	}
	files, w.Skipped, w.Unread = all.files, all.skipped, all.unread
	now := map[File]bool{}
	for _, f := range files {
		now[f] = true
		still = append(still, w.last[f])
	}
	w.last = now
	return files, still, nil
}
