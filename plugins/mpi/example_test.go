package mpi_test

import "github.com/bnctl/bnctl/plugins/mpi"

// The whole program bnctl-fabric-mpi.
func ExampleMain() {
	mpi.Main()
}
