// Bnctl-fabric-mpi joins the ranks of a run by MPI. bnctl finds it beside its own
// executable; run as `bnctl-fabric-mpi describe` it says what it is. It opens the
// MPI library of the launcher when it runs, so it is a dynamic executable, apart
// from bnctl, which is a static one.
package main

import "github.com/bnctl/bnctl/plugins/mpi"

func main() { mpi.Main() }
