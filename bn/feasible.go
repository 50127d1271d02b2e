package bn

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Partition is one way to divide a batch among replicas.
type Partition struct {
	What string // "the full batch", "the tail"
	Rows []int  // real rows of replica 0, 1, ...; 0 is legal
}

// TooFew is the error of a run that would have an undefined variance.
type TooFew struct {
	Layer   string
	Replica int // -1: all replicas together
	What    string
	Rows    int    // rows of that replica, or of the whole batch
	Advice  string // options that would help, in braces: see package problem
}

func (e *TooFew) Error() string { return e.Unwrap().Error() }

// Unwrap returns the *problem.Error.
func (e *TooFew) Unwrap() error {
	who := "the batch"
	if e.Replica >= 0 {
		who = fmt.Sprintf("replica %d", e.Replica)
	}
	return problem.Failure("batch", fmt.Sprintf("layer %s: %s has one value per channel in %s (%d row), "+
		"and the variance of one value is undefined", e.Layer, who, e.What, e.Rows), "use "+e.Advice)
}

// Feasible reports, before a run starts, whether every batch norm gets at
// least two values wherever it normalises: over the batch in mode Sync, on
// every replica that has rows in mode Replica. The error is a *TooFew.
func Feasible(layers []Layer, mode Mode, splits []Partition) error {
	if mode == Frozen {
		return nil
	}
	for _, s := range splits {
		total := 0
		for _, rows := range s.Rows {
			total += rows
		}
		for _, l := range layers {
			alone := l.Elements*total == 1 // then it does not help to synchronise the replicas
			if at := single(l, s.Rows); mode == Replica && at >= 0 {
				return &TooFew{l.Name, at, s.What, 1, advice(s.What, mode, !alone)}
			}
			if alone {
				return &TooFew{l.Name, -1, s.What, total, advice(s.What, mode, false)}
			}
		}
	}
	return nil
}

// single returns the first replica with exactly one value, or -1.
func single(l Layer, rows []int) int {
	for r, n := range rows {
		if n*l.Elements == 1 {
			return r
		}
	}
	return -1
}

func advice(batch string, mode Mode, syncHelps bool) string {
	var ways []string
	if strings.Contains(batch, "tail") {
		ways = append(ways, "{tail} drop", "{tail} repeat")
	}
	if syncHelps {
		ways = append(ways, "{bn} sync", "fewer {replicas}")
	}
	ways = append(ways, "another {batch}")
	if mode == Replica {
		ways = append(ways, "{bn-min} running")
	}
	last := len(ways) - 1
	if last == 0 {
		return ways[0]
	}
	return strings.Join(ways[:last], ", ") + " or " + ways[last]
}
