// Benchpeers compares the speed of bnctl with the programs that its users could use instead, its peers: ONNX
// Runtime, oneDNN and PyTorch to predict, and PyTorch and oneDNN to train. They are used in the versions of
// this system, of npm and of an additional Debian 13. The sides of a row, bnctl and its peers, are measured
// alternately in several rounds, and their medians are compared. A side that is far slower than the best of
// its kind after one round is not measured again. The rate of multiply-adds, which is measured before and
// after every row, shows the state of the machine.
//
// make bench-peers builds and installs everything that is needed and runs the program. JSON= keeps the
// figures in a file, from which make results prints the tables of docs/results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	bnctl    string // path of the bnctl program
	models   string // folder with NAME.onnx and NAME.pth
	modules  string // value of NODE_PATH, for the npm packages of peers
	python   string
	debian   string // output of scripts/debian13.sh; if empty, the peers of Debian 13 are left out
	rows     string
	selected string
	excluded string
	isa      string
	rounds   int
	seconds  float64
	// patience is the longest time for an answer of a peer. Some compilers run for minutes, or never end.
	patience time.Duration
	json     string // file for the figures
}

func main() {
	var o options
	flag.StringVar(&o.bnctl, "bnctl", "bin/bnctl", "the program to measure")
	flag.StringVar(&o.models, "models", "", "folder with the networks of scripts/peers/networks.py")
	flag.StringVar(&o.modules, "modules", "", "folder with onnxruntime-node")
	flag.StringVar(&o.python, "python", "/usr/bin/python3", "a Python with torch")
	flag.StringVar(&o.debian, "debian13", "", "the system that scripts/debian13.sh makes; without it"+
		" PyTorch 2.6, ONNX Runtime 1.21 and oneDNN 3.7 are left out")
	flag.StringVar(&o.rows, "rows", "", "groups of rows, comma-separated (default: all but "+everyGroup+
		" and "+everyTorchGroup+"): "+
		strings.Join(groups(), ","))
	flag.StringVar(&o.selected, "only", "", "rows whose name this regular expression finds: resnet20.*batch 32")
	flag.StringVar(&o.excluded, "without", "", "peers to leave out, whose name this regular expression finds:"+
		" xnnpack")
	flag.StringVar(&o.isa, "isa", "", "avx2: hold all sides to it; -modules is then what peers.sh avx2 prints")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each side of a row is measured")
	flag.Float64Var(&o.seconds, "seconds", 0.5, "for each side and round")
	flag.DurationVar(&o.patience, "patience", 5*time.Minute, "for an answer of a peer, which may have to"+
		" compile; a form that takes longer is left out")
	flag.StringVar(&o.json, "json", "", "keep the figures in this file, as docs/results has them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	all, err := chosen(o)
	if err != nil {
		return err
	}
	if err := hold(o.isa); err != nil {
		return err
	}
	if err := os.Setenv("MODELS", o.models); err != nil { // Debian 13 has this folder as /models
		return err
	}
	b := &bench{options: o, peers: map[string]*peer{}, overdue: map[string]bool{}}
	defer b.close()
	var done []result
	defer func() { err = errors.Join(err, b.keep(done)) }() // keeps the measured rows even if a later row fails
	for _, r := range all {
		began := time.Now()
		result, err := b.measure(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		done = append(done, result)
		fmt.Fprintf(os.Stderr, "%s: %s (%.0f s)\n", r.name, result.verdict(), time.Since(began).Seconds())
	}
	return nil
}

// keep prints the tables, and writes the measurements into a file if one is named.
func (b *bench) keep(results []result) error {
	m := b.measurement(results)
	printTables(os.Stdout, m)
	if b.json == "" || len(results) == 0 {
		return nil
	}
	return m.Write(b.json)
}

// hold sets environment variables so that child processes use only the instructions of a processor with the
// instruction set isa.
func hold(isa string) error {
	switch isa {
	case "":
		return nil
	case "avx2":
	default:
		return fmt.Errorf("-isa %q: want avx2, or nothing", isa)
	}
	var all error
	for name, value := range map[string]string{
		"GODEBUG":             "cpu.avx512f=off", // bnctl
		"ONEDNN_MAX_CPU_ISA":  "AVX2",            // oneDNN, also inside of PyTorch
		"ATEN_CPU_CAPABILITY": "avx2",            // PyTorch
	} {
		all = errors.Join(all, os.Setenv(name, value))
	}
	return all
}

// chosen returns the rows that the flags select.
func chosen(o options) ([]row, error) {
	all := rows()
	if o.rows == "" {
		all = slices.DeleteFunc(all, func(r row) bool {
			return r.group == everyGroup || r.group == everyTorchGroup
		})
	} else {
		picked := strings.Split(o.rows, ",")
		for _, g := range picked {
			if !slices.Contains(groups(), g) {
				return nil, fmt.Errorf("-rows %q: there is no group %q; there are %s",
					o.rows, g, strings.Join(groups(), ", "))
			}
		}
		all = slices.DeleteFunc(all, func(r row) bool { return !slices.Contains(picked, r.group) })
	}
	only, err := regexp.Compile(o.selected)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	all = slices.DeleteFunc(all, func(r row) bool { return !only.MatchString(r.name) })
	if o.excluded != "" {
		without, err := regexp.Compile(o.excluded)
		if err != nil {
			return nil, fmt.Errorf("-without: %w", err)
		}
		for i, r := range all {
			all[i].theirs = slices.DeleteFunc(r.theirs, func(s side) bool { return without.MatchString(s.name) })
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("-rows %q -only %q: no row is left", o.rows, o.selected)
	}
	return all, nil
}
