package regular

// LockAll locks the files that a program is going to write, until release is called or the program
// ends. LockAll returns an error if one of the files cannot be written, or if another program has
// locked it. Empty paths are skipped. See Writable and Lock.
func LockAll(paths ...string) (release func(), err error) {
	var unlocks []func()
	release = func() {
		for _, unlock := range unlocks {
			unlock()
		}
		unlocks = nil
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		unlock := func() {}
		if err = Writable(path); err == nil {
			unlock, err = Lock(path)
		}
		if err != nil {
			release()
			return nil, err
		}
		unlocks = append(unlocks, unlock)
	}
	return release, nil
}
