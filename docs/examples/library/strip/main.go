package main

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/modelfile/strip"
)

func main() {
	r, err := strip.Files(strip.Options{Inputs: []string{"model.pth"}, Output: "model.bnm"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Architecture, "of", r.Format, "with", r.Parameters, "parameters")
}
