//go:build !unix

package regular

// syncFolder does nothing: on this system a rename is durable, or a program cannot make it so.
func syncFolder(string) error { return nil }
