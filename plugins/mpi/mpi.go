// Package mpi is the MPI fabric plugin: bnctl-fabric-mpi is its executable.
//
// Use Main to build the plugin into your program; it is the only function to call.
package mpi

import (
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/plugins/mpi/internal/rank"
)

// Main is the main function of the plugin.
func Main() { serve.FabricMain(rank.Network{}) }
