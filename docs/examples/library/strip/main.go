package main

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/modelfile/strip"
)

func main() {
	r, err := strip.Files(strip.Options{Inputs: []string{"halves.bnc"}, Output: "halves.pth"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Removed.OptimizerTensors, "optimizer tensors are gone")
	r, err = strip.Files(strip.Options{Inputs: []string{"halves.pth"}, Output: "again.bnm"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Architecture, "of", r.Format, "with", r.Parameters, "parameters")
}
