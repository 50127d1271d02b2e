//go:build amd64 && !linux && !purego && !amxemulation

package kernel

// matrixUnits reports whether this process may use AMX. The request for it is implemented only for Linux.
func matrixUnits() bool { return false }

// matrixBytes reports whether the matrix units multiply bytes, too.
func matrixBytes() bool { return false }
