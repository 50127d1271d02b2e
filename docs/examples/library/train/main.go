package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/fleet"
)

func main() {
	if fleet.Serve(os.Args) { // the CPU devices are processes of this program
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run, err := bnctl.Open(ctx, bnctl.TrainOptions{Model: "mlp-bn", Source: halves(4000),
		Output: "halves.bnm", Resume: "auto"}) // each epoch leaves a checkpoint in halves.bnc
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	run.Recipe().LR = 0.05
	if _, err := run.Train(ctx); err != nil {
		log.Fatal(err)
	}
}
