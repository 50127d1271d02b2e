package demo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/demo"
)

// The demo takes a minute, and a command bnctl that it starts.
func ExampleRun() {
	r, err := demo.Run(context.Background(), demo.Options{Program: "bin/bnctl",
		Say: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same template:", r.SameBits, "although", r.DevicesLost, "device was killed")
}
