package wire

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

func TestErrorsArriveWithTheirKind(t *testing.T) {
	node := device.Refusal{Function: "train", Node: "c1", Op: graph.Conv, Why: "no"}
	refused := &device.Refused{Nodes: []device.Refusal{node}}
	tests := []struct {
		err  error
		want string
		is   error
	}{
		{device.Errorf("far", "Load", device.OutOfMemory, "want %d MiB", 512),
			"cpu:1: Load: out of memory: want 512 MiB", device.OutOfMemory},
		{device.Errorf("far", "", device.Unsupported, "%w", refused),
			"cpu:1: call: unsupported: cannot run c1 in train (conv: no)", device.Unsupported},
		{fmt.Errorf("inside: %w", device.Errorf("far", "Run", device.Invalid, "bad")),
			"cpu:1: call: invalid: inside: far: Run: invalid: bad", device.Invalid},
		{fmt.Errorf("%w: %w", collective.Aborted, device.Errorf("d2", "Run", device.Lost, "gone")),
			"cpu:1: call: aborted: group aborted: d2: Run: lost: gone", collective.Aborted},
		{device.Errorf("far", "Commit", device.NonFinite, "w: element 3 is NaN"),
			"cpu:1: Commit: not finite: w: element 3 is NaN", device.NonFinite},
		{context.DeadlineExceeded, "cpu:1: call: canceled: context deadline exceeded", device.Canceled},
		{errors.New("plain"), "cpu:1: call: plain", device.Other},
	}
	for _, test := range tests {
		got := DecodeError("cpu:1", "call", EncodeError(test.err))
		if got.Error() != test.want {
			t.Errorf("%v arrives as %q, want %q", test.err, got, test.want)
		}
		if !errors.Is(got, test.is) {
			t.Errorf("%v arrives and is no longer %v", test.err, test.is)
		}
	}
	var r *device.Refused
	if err := DecodeError("d", "Load", EncodeError(tests[1].err)); !errors.As(err, &r) || r.Nodes[0] != node {
		t.Errorf("the refusal arrives as %+v, want %+v", r, node)
	}
	if DecodeError("d", "c", EncodeError(nil)) != nil {
		t.Error("no error arrives as an error")
	}
}

// TestAdviceArrives checks that advice arrives separately from the cause, with its options
// in braces.
func TestAdviceArrives(t *testing.T) {
	err := fmt.Errorf("while it loads: %w", problem.Advise("use {batch} 8", "want %d MiB", 512))
	got := DecodeError("cpu:1", "Load", EncodeError(device.Errorf("far", "Load", device.OutOfMemory, "%w", err)))
	if text, advice := problem.Split(got); text != "cpu:1: Load: out of memory: while it loads: want 512 MiB" ||
		advice != "use {batch} 8" || !errors.Is(got, device.OutOfMemory) || problem.IsMisuse(got) {
		t.Errorf("%q and %q, of %v", text, advice, got)
	}
	canceled := problem.Advise("wait", "%w", context.Canceled)
	if got := DecodeError("d", "c", EncodeError(canceled)); !errors.Is(got, context.Canceled) {
		t.Errorf("%v is no longer canceled", got)
	}
}
