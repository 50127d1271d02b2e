//go:build !unix

package regular

// syncFolder has nothing to do: here a rename lasts by itself, or nothing can be done about it.
func syncFolder(string) error { return nil }
