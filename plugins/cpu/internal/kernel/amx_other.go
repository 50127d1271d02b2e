//go:build amd64 && !linux && !purego && !amxemulation

package kernel

// matrixUnits reports whether this process may use AMX: only on Linux is it
// known how to request that.
func matrixUnits() bool { return false }

// matrixBytes reports whether the matrix units multiply bytes, too.
func matrixBytes() bool { return false }
