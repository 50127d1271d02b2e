package demo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/demo"
)

// The demo runs for a minute, and starts the command bnctl.
func ExampleRun() {
	r, err := demo.Run(context.Background(), demo.Options{Program: "bin/bnctl",
		Say: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same template:", r.SameBits, "although", r.DevicesLost, "device was killed")
}
