package main

import (
	"context"
	"log"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/fleet"
)

func main() {
	if fleet.Serve(os.Args) {
		return
	}
	o := bnctl.PredictOptions{Model: "halves.bnm", Inputs: []string{"photos"}}
	for p, err := range bnctl.Predict(context.Background(), o) {
		if err != nil {
			log.Fatal(err)
		}
		log.Println(p.Input, p.Classes[0].Label)
	}
}
