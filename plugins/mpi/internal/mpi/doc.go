// Package mpi calls an MPI library without cgo: that of Open MPI, or one of the
// ABI that MPICH, Intel MPI, MVAPICH and Cray MPICH share. The two differ in their
// handles and in what a status looks like.
//
// All calls are made by one thread, that which has called Open
// (MPI_THREAD_FUNNELED). Memory that is given to the library is the caller's to
// keep until the call, or the request, is done.
package mpi
