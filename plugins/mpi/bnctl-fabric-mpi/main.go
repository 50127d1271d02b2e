// Bnctl-fabric-mpi joins the ranks of a run by MPI. bnctl finds it next to its executable;
// `bnctl-fabric-mpi describe` prints a description. It opens the MPI library of the
// launcher when it runs, so it is a dynamic executable, separate from bnctl, which is a
// static one.
package main

import "github.com/bnctl/bnctl/plugins/mpi"

func main() { mpi.Main() }
