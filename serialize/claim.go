package serialize

// Claim makes sure that files can be written, and keeps other programs from
// locking them until release is called, or this one ends. A path "" is none.
func Claim(paths ...string) (release func(), err error) {
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
