// Network computes how well training scales over several machines. It uses the exchanges of data that
// package parallel plans for a model, and assumes a network of some latency and bandwidth, and one batch per
// machine. It prints efficiencies: the time that one machine needs for its share of a step, divided by the
// time of the step on all machines.
//
//	go run ./scripts/network -model resnet50 -images 60 -batch 64
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
)

var (
	model   = flag.String("model", "resnet50", "of the zoo")
	images  = flag.Float64("images", 60, "images/s that a machine trains by itself: bnctl bench measures it")
	batch   = flag.Int("batch", 64, "samples of a machine in a step")
	latency = flag.Float64("latency", 40, "microseconds from bnctl to bnctl, the network's 10 among them")
	message = flag.Float64("message", 6, "microseconds that a rank works for a message that it sends or gets")
)

// machines are the columns of the table, in ranks, and speeds are its rows, in Gbit/s.
var (
	machines = []int{2, 4, 8, 16, 32, 64, 128, 256, 512}
	speeds   = []float64{10, 25, 100}
)

// shared is the number of bytes above which the members of an exchange divide the computation of a sum among
// them, as in package fabric.
const shared = 16 << 10

// backward is the part of a step during which gradients can be transferred without waiting.
const backward = 2.0 / 3

// plan has the sizes of the exchanges of a step.
type plan struct {
	waited     []int // bytes of each exchange that the devices wait for
	overlapped []int // bytes of each exchange during the backward pass, in their order
	report     int   // bytes of the moments that each replica reports
}

func planOf(mode bn.Mode) (*plan, error) {
	m, err := models.Build(*model, models.Options{})
	if err != nil {
		return nil, err
	}
	w, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 2, BN: mode, Stats: bn.Pooled})
	if err != nil {
		return nil, err
	}
	var trained []string
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			trained = append(trained, s.Name)
		}
	}
	f, err := spmd.TrainFunction(w, spmd.Training{Trained: trained})
	if err != nil {
		return nil, err
	}
	p := &plan{}
	for _, e := range f.Exchanges() {
		bytes := 0
		for i := e.From; i < e.To; i++ {
			for _, v := range f.Nodes[i].Out {
				bytes += bytesOf(f, v)
			}
		}
		if e.Read {
			p.waited = append(p.waited, bytes)
		} else {
			p.overlapped = append(p.overlapped, bytes)
		}
	}
	for _, o := range f.Outputs {
		if strings.HasPrefix(o.Name, "moments") {
			p.report += bytesOf(f, o.Value)
		}
	}
	return p, nil
}

func bytesOf(f *graph.Function, v graph.Value) int {
	n := f.Values[v].Type.DType.Size()
	for _, d := range f.Values[v].Type.Shape {
		n *= d
	}
	return n
}

// exchange returns the seconds that one exchange of some bytes over p machines needs, and the bytes that each
// machine sends. It assumes the exchange of fabric.Uplink, where the replicas of a machine are one node of a
// tree.
func exchange(bytes, p int, gbit float64) (seconds, sent float64) {
	peers, rounds := float64(p-1), 1.0
	sent = float64(bytes) * peers
	if bytes >= shared {
		rounds, sent = 2, 2*float64(bytes)*peers/float64(p)
	}
	return rounds*(*latency+2*peers**message)*1e-6 + sent*8/(gbit*1e9), sent
}

// step returns the efficiency of a step on p machines, and the bytes that each machine sends.
func (pl *plan) step(p int, gbit float64) (efficiency, sent float64) {
	alone := float64(*batch) / *images
	wait, overlapped, last := 0.0, 0.0, 0.0
	add := func(bytes int, to *float64) {
		s, b := exchange(bytes, p, gbit)
		*to, sent, last = *to+s, sent+b, s
	}
	for _, b := range pl.waited {
		add(b, &wait)
	}
	add(pl.report, &wait)
	for _, b := range pl.overlapped {
		add(b, &overlapped)
	}
	wait += max(overlapped-backward*alone, min(last, overlapped))
	return alone / (alone + wait), sent
}

func main() {
	flag.Parse()
	fmt.Printf("%s, %d samples and %g images/s per machine, latency %g us, %g us per message\n", *model, *batch,
		*images, *latency, *message)
	for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
		pl, err := planOf(mode)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("\nbatch norm %s: %d exchanges that devices wait for (%d KB), ", mode, len(pl.waited),
			sum(pl.waited)/1000)
		fmt.Printf("%d beside the backward pass (%.1f MB)\n", len(pl.overlapped), float64(sum(pl.overlapped))/1e6)
		fmt.Print("| Gbit/s |")
		for _, p := range machines {
			fmt.Printf(" %d |", p)
		}
		fmt.Println("\n|---|" + strings.Repeat("---|", len(machines)))
		for _, gbit := range speeds {
			fmt.Printf("| %g |", gbit)
			for _, p := range machines {
				e, _ := pl.step(p, gbit)
				fmt.Printf(" %.0f %% |", 100*e)
			}
			fmt.Println()
		}
		fmt.Print("| MB sent |")
		for _, p := range machines {
			_, sent := pl.step(p, speeds[0])
			fmt.Printf(" %.0f |", sent/1e6)
		}
		fmt.Println()
	}
}

func sum(numbers []int) int {
	n := 0
	for _, b := range numbers {
		n += b
	}
	return n
}
