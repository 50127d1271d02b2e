package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
)

// patience is how long a device may need for a vector.
const patience = 30 * time.Second

// Outcome is the result of a vector on a device.
type Outcome struct {
	Vector      string       `json:"vector"`
	Class       string       `json:"class"`
	Differences []Difference `json:"differences,omitempty"`
	// Error is the reason why the device has no results: it lacks an operation, or it failed.
	Error string `json:"error,omitempty"`

	err error
}

// Passed reports whether the device has the bits of the vector.
func (o Outcome) Passed() bool { return len(o.Differences) == 0 && o.Error == "" }

// Lines describes the faults, one line for each.
func (o Outcome) Lines() []string {
	var all []string
	if o.Error != "" {
		all = append(all, o.Vector+": "+o.Error)
	}
	for _, d := range o.Differences {
		all = append(all, d.String())
	}
	return all
}

// Failure returns the error of a device that did not finish the vector; nil if its results were compared, or
// if it lacks an operation.
func (o Outcome) Failure() error { return o.err }

// Lost reports whether the device cannot run other vectors.
func (o Outcome) Lost() bool { return o.err != nil && device.KindOf(o.err) == device.Lost }

// Judge runs a vector of a class that the device has.
func (v *Vector) Judge(ctx context.Context, d device.Device) Outcome {
	o := Outcome{Vector: v.Name, Class: v.Class}
	if _, err := v.Program(); err != nil {
		o.Error = err.Error()
		return o
	}
	if lacks := v.Missing(d.Info()); len(lacks) > 0 {
		o.Error = fmt.Sprintf("a device of class %s must have the operations %s", v.Class, strings.Join(lacks,
			", "))
		return o
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if o.Differences, o.err = v.Run(ctx, d); o.err != nil {
		o.Error = o.err.Error()
	}
	return o
}

// JudgeAll runs the vectors of the numbered classes that the device announces, and calls onVector after
// every vector. It stops when the device is lost.
func JudgeAll(ctx context.Context, d device.Device, vectors []*Vector, onVector func(Outcome)) Summary {
	return JudgeWithin(ctx, d, vectors, 0, onVector)
}

// JudgeWithin does the same as JudgeAll with a time limit, after which no vector starts. 0 means no
// limit. At least one vector runs.
func JudgeWithin(ctx context.Context, d device.Device, vectors []*Vector, limit time.Duration,
	each func(Outcome)) Summary {
	s := Summary{Kernels: d.Info().Kernels}
	start := time.Now()
	vectors = ofClasses(vectors, d.Info().Classes)
	for i, v := range vectors {
		if ctx.Err() != nil {
			break
		}
		if limit > 0 && i > 0 && time.Since(start) >= limit {
			s.LeftOut = len(vectors) - i
			break
		}
		if !slices.Contains(s.Classes, v.Class) {
			s.Classes = append(s.Classes, v.Class)
		}
		o := v.Judge(ctx, d)
		if s.Vectors++; !o.Passed() {
			s.Faults++
		}
		if each(o); o.Lost() {
			break
		}
	}
	s.Seconds = time.Since(start).Seconds()
	return s
}

// Summary has the figures of all vectors on a device.
type Summary struct {
	Kernels string   `json:"kernels"`
	Classes []string `json:"classes"`            // numbered classes of the device that have vectors
	Vectors int      `json:"vectors"`            // number of vectors that ran
	Faults  int      `json:"faults"`             // vectors with other bits or without results
	LeftOut int      `json:"left_out,omitempty"` // vectors that did not run, because of a limit of time
	Seconds float64  `json:"seconds"`
}
