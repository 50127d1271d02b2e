package repository

// Watch finds the files of models below some paths, and detects their changes.
type Watch struct {
	paths  []string
	policy Policy
	last   map[File]bool // files of the previous scan
	// Skipped describes why files were skipped in the last scan.
	Skipped []string
	// Unread lists the models where the last scan could not read a file or folder. Files of these models
	// that were not found may still exist.
	Unread []string
}

// NewWatch returns a watch that has not scanned yet.
func NewWatch(paths []string, p Policy) *Watch { return &Watch{paths: paths, policy: p} }

// Scan returns the files of the versions that the policy selects, the highest version of each model first.
// unchanged has an element for each file, which is true if the file's size and time are the same as in the
// previous scan. The error names the paths that cannot be read.
func (w *Watch) Scan() (files []File, unchanged []bool, err error) {
	all, err := scan(w.paths, w.policy)
	if err != nil {
		return nil, nil, err
	}
	files, w.Skipped, w.Unread = all.files, all.skipped, all.unread
	now := map[File]bool{}
	for _, f := range files {
		now[f] = true
		unchanged = append(unchanged, w.last[f])
	}
	w.last = now
	return files, unchanged, nil
}
