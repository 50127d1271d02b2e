// Benchserve measures bnctl serve under open-loop load: requests are sent at the times of a Poisson process,
// whether or not earlier requests have been answered. The time of a request counts from the moment when it
// was due. Bodies are binary.
//
// make bench-serve runs it on one core, which it shares with the front: the process of bnctl serve that
// receives requests. The process of the device has another core. make bench-serve-peers compares bnctl with
// servers that users would otherwise write themselves. Each server in turn may use all cores. The printed
// tables go into docs/results/serving.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	bnctl    string // path of the bnctl program
	networks string
	sections string
	device   int           // number of the device's core; -1: any
	overload time.Duration // duration of the load at twice the capacity
	capacity float64       // capacity in images per second, if it is known
	turn     time.Duration // duration of a load
	rounds   int
	peers    bool
	theirs   string // selected peers
	flags    string // additional flags of bnctl serve
	models   string // folder with NAME.onnx and NAME.pth, for peers
	modules  string // value of NODE_PATH, for the npm packages of peers
	python   string
}

func main() {
	var o options
	flag.StringVar(&o.bnctl, "bnctl", "bin/bnctl", "the program to measure")
	flag.StringVar(&o.networks, "networks", "resnet20,resnet50,mobilenetv2", "names of the zoo")
	flag.StringVar(&o.sections, "parts", "single,saturated,half,twice",
		"what is measured: one request in flight, "+
			"the capacity, half of it, twice")
	flag.IntVar(&o.device, "device", -1, "the core of the device; -1: any")
	flag.DurationVar(&o.overload, "overload", time.Minute, "how long twice the capacity is asked for")
	flag.Float64Var(&o.capacity, "capacity", 0, "images a second, if it is known; 0: measured")
	flag.DurationVar(&o.turn, "turn", 5*time.Second, "how long a rate is measured in a round")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each side is measured, in turn")
	flag.StringVar(&o.theirs, "theirs", "ONNX Runtime,PyTorch", "which servers of others")
	flag.StringVar(&o.flags, "with", "", "more flags of bnctl serve, as \"--devices 2xcpu\"")
	flag.BoolVar(&o.peers, "peers", false, "compare with servers of others")
	flag.StringVar(&o.models, "models", "", "folder with the networks of scripts/peers/networks.py")
	flag.StringVar(&o.modules, "modules", "", "folder with onnxruntime-node")
	flag.StringVar(&o.python, "python", "/usr/bin/python3", "a Python with torch, fastapi and uvicorn")
	flag.Parse()
	debug.SetGCPercent(-1) // a garbage collection here would use the server's core
	debug.SetMemoryLimit(1 << 30)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-serve:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	folder, err := os.MkdirTemp("", "benchserve")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{o, ctx, folder}
	for _, name := range strings.Split(o.networks, ",") {
		i := slices.IndexFunc(networks, func(n network) bool { return n.name == name })
		if i < 0 {
			return fmt.Errorf("%s: there is no such network here", name)
		}
		measure := b.alone
		if o.peers {
			measure = b.compare
		}
		if err := measure(networks[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// bench is the state of a run of this program.
type bench struct {
	options
	ctx    context.Context
	folder string // folder for the templates that the run makes
}

// say prints a row of the table.
func say(cells ...string) { fmt.Println("| " + strings.Join(cells, " | ") + " |") }
