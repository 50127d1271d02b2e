package fleet_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/fleet"
)

// Devices are opened by their names. For cpu, the fleet starts this program again as a device
// process, so main must begin with fleet.Serve. ref computes in this process.
func ExampleOpen() {
	f, err := fleet.Open(context.Background(), fleet.Options{Devices: "2xref"})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for _, m := range f.Members {
		fmt.Println(m.Name, m.Device.Info().Kernels)
	}
	// Output:
	// ref:0 ref
	// ref:1 ref
}

// These are the first lines of a program that uses CPU devices.
func ExampleServe() {
	args := []string{"program", "train", "cifar10"} // in a program: os.Args
	if fleet.Serve(args) {
		return // this process was a device, and its host has ended it
	}
	fmt.Println("goes on as itself")
	// Output: goes on as itself
}
