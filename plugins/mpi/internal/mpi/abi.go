package mpi

import (
	"encoding/binary"

	"github.com/bnctl/bnctl/plugins/internal/library"
)

// abi holds the values of mpi.h that differ between libraries.
type abi struct {
	world, bytes, errorsReturn uintptr // handles
	anySource, anyTag          int32
	source, tag                int // offsets in a status, in bytes
}

// mpich has the values of MPICH's family. Its handles are integers.
var mpich = abi{world: 0x44000000, bytes: 0x4c00010d, errorsReturn: 0x54000001, anySource: -2, anyTag: -1,
	source: 8, tag: 12}

// abiOf returns the values of a library. In Open MPI, handles are addresses of variables.
func abiOf(l *library.Library) (abi, error) {
	world, err := l.Symbol("ompi_mpi_comm_world")
	if err != nil {
		return mpich, nil
	}
	a := abi{world: world, anySource: -1, anyTag: -1, source: 0, tag: 4}
	if a.bytes, err = l.Symbol("ompi_mpi_byte"); err != nil {
		return a, err
	}
	a.errorsReturn, err = l.Symbol("ompi_mpi_errors_return")
	return a, err
}

// status is an MPI_Status: at most 24 bytes in the known libraries.
type status [64]byte

func (s *status) at(offset int) int { return int(int32(binary.NativeEndian.Uint32(s[offset:]))) }
