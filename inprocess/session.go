package inprocess

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/plugins/cpu/local"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// session is a device with a loaded program. One goroutine at a time uses it, except for close.
type session struct {
	program  *graph.Program
	options  device.Options
	device   device.Device
	exe      device.Executable
	capacity int // maximum number of rows of a run
	number   uint64
	broken   bool // a kernel has panicked, and may have left values that are not complete
}

// open opens the device, loads the program for one row and writes the state.
func (s *session) open(state map[string]tensor.Tensor) (err error) {
	ctx := context.Background()
	if s.device, err = local.Open(ctx, s.options); err != nil {
		if errors.Is(err, device.Invalid) { // the machine does not have the requested kernel class
			return problem.Wrap("", err)
		}
		return err
	}
	return s.load(ctx, state)
}

// load loads the program and writes the state. Operations that the device refuses are decomposed.
func (s *session) load(ctx context.Context, state map[string]tensor.Tensor) (err error) {
	s.capacity = 1
	var refused []graph.Op
	for p := s.program; ; {
		s.exe, err = s.device.Load(ctx, p, device.Capacity{Rows: s.capacity, Replicas: 1})
		var r *device.Refused
		if !errors.As(err, &r) {
			break
		}
		known := len(refused)
		for _, n := range r.Nodes {
			if !slices.Contains(refused, n.Op) {
				refused = append(refused, n.Op)
			}
		}
		simpler, failed := graph.Decompose(s.program, refused)
		if failed != nil || len(refused) == known {
			return err
		}
		p = simpler
	}
	if err != nil {
		return err
	}
	return s.exe.WriteAll(ctx, slices.Sorted(maps.Keys(state)), state)
}

// memory returns the bytes that the session uses at most with a number of rows.
func (s *session) memory(rows int) int64 {
	needs := s.exe.Needs()
	n := needs.Fixed + needs.PerRow*int64(rows)
	const aligned = 2 << 20
	if n >= aligned {
		n += local.AlignmentBytes
	}
	return n + local.WorkspaceBytes(s.program, s.device.Info().Threads)
}

// fits returns an error if a number of rows needs more memory than limit. A limit of 0 means the memory
// of the machine.
func (s *session) fits(rows int, limit int64) error {
	want, word := s.memory(rows), "allowed by {memory}"
	if limit == 0 {
		_, limit = memory.Machine()
		want, word = want-s.memory(s.capacity), "free"
	}
	if limit == 0 || want <= limit {
		return nil
	}
	const mib = 1 << 20
	return device.Errorf("cpu", "Load", device.OutOfMemory, "%w", problem.Advise(
		"use a smaller {batch} or model", "batch %d: want %.1f MiB, have %.1f MiB %s", rows, float64(want)/mib,
		float64(limit)/mib, word))
}

// run predicts the rows of x, at most batch.
func (s *session) run(ctx context.Context, x tensor.Tensor) (outputs []tensor.Tensor, err error) {
	if s.broken {
		if err := s.reload(ctx); err != nil {
			return nil, err
		}
	}
	rows := x.Shape[0]
	if rows > s.capacity {
		if err := s.exe.Grow(ctx, device.Capacity{Rows: rows, Replicas: 1}); err != nil {
			return nil, err
		}
		s.capacity = rows
	}
	defer func() {
		if v := recover(); v != nil {
			s.broken = true
			err = &Panic{v, debug.Stack()}
		}
	}()
	s.number++
	out, err := s.exe.Run(ctx, device.Step{Function: graph.Predict, Number: s.number, Rows: []int{rows},
		Inputs: []tensor.Tensor{x}})
	return out.Outputs, err
}

// reload loads the program again after a panic, with the state of the interrupted executable.
func (s *session) reload(ctx context.Context) error {
	old, state := s.exe, map[string]tensor.Tensor{}
	for _, t := range s.program.State {
		value, err := old.Read(ctx, t.Name)
		if err != nil {
			return err
		}
		state[t.Name] = value
	}
	if err := s.load(ctx, state); err != nil {
		s.exe = old
		return err
	}
	s.broken = false
	return old.Close()
}

// close ends a run in progress and frees the device.
func (s *session) close() error {
	if s.device == nil {
		return nil
	}
	return s.device.Close()
}

// Panic is the error of a call that a panic in a kernel ended. Later calls load the model again.
type Panic struct {
	Value any    // value of the panic
	Stack []byte // stack of the goroutine
}

// Error returns the value of the panic in one sentence. Stack is for a report of the fault.
func (p *Panic) Error() string {
	return fmt.Sprintf("cpu: a kernel panicked, which is a fault of bnctl: %v", p.Value)
}
