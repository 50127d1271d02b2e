package main

import (
	"context"
	"log"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/fleet"
)

func main() {
	if fleet.Serve(os.Args) { // the CPU devices are processes of this program
		return
	}
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:1000", Output: "glyphs.bnm"}
	o.Fleet.Devices = "2xcpu"
	if _, err := bnctl.Train(context.Background(), o); err != nil {
		log.Fatal(err)
	}
}
