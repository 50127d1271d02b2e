package mpi_test

import "github.com/bnctl/bnctl/plugins/mpi"

// ExampleMain is the whole program bnctl-fabric-mpi.
func ExampleMain() {
	mpi.Main()
}
