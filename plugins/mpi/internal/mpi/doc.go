// Package mpi calls an MPI library without cgo: Open MPI, or a library of the ABI that
// MPICH, Intel MPI, MVAPICH and Cray MPICH share. The two differ in their handles and in
// the layout of a status.
//
// All calls must be made by the thread that has called Open (MPI_THREAD_FUNNELED). The
// caller must keep memory that is passed to the library until the call, or the request, is
// done.
package mpi
