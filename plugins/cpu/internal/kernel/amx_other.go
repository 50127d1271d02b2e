//go:build amd64 && !linux && !purego && !amxemulation

package kernel

// matrixUnits reports whether this process may use AMX. Only on Linux can a process get the permission.
func matrixUnits() bool { return false }

// matrixBytes reports whether the matrix units multiply bytes, too.
func matrixBytes() bool { return false }
