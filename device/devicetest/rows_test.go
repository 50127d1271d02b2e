package devicetest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// changed returns an executable with runs that change elements of the first output: all those from row or
// replica number from on, if the output has more rows or replicas than that.
func changed(from int) sickExecutable {
	return sickExecutable{run: func(ctx context.Context, x device.Executable, s device.Step) (device.Outcome,
		error) {
		o, err := x.Run(ctx, s)
		if err != nil || len(o.Outputs) == 0 {
			return o, err
		}
		t := o.Outputs[0]
		if len(t.Shape) == 0 || t.Shape[0] <= from || t.Count() == 0 {
			return o, nil
		}
		for i := from * t.Count() / t.Shape[0]; i < t.Count(); i++ {
			worse(t, i)
		}
		return o, nil
	}}
}

// worse changes element i of t.
func worse(t tensor.Tensor, i int) {
	switch t.DType {
	case tensor.F32:
		t.F32()[i] += 1
	case tensor.F64:
		t.F64()[i] += 1
	case tensor.I32:
		t.I32()[i]++
	case tensor.I64:
		t.I64()[i]++
	case tensor.U8:
		t.U8()[i]++
	}
}

// TestJudgeFindsWrongRows checks for every operation that a case finds a device with wrong results
// from row or replica 64 on. This is a likely fault of kernels that process 64 rows at a time.
func TestJudgeFindsWrongRows(t *testing.T) {
	seen := map[graph.Op]bool{}
	for _, c := range devicetest.Cases() {
		if !strings.HasPrefix(c.Name, "rows: ") {
			continue
		}
		for _, o := range c.Ops {
			seen[o] = true
		}
		if err := judged(t, c, sick{x: changed(64)}); err == nil {
			t.Errorf("%s: no fault in a device that is wrong from row 64 on", c.Name)
		}
	}
	for _, p := range devicetest.Cases() {
		if len(p.Ops) == 1 && !seen[p.Ops[0]] && !slices.Contains(wholeOps, p.Ops[0]) {
			t.Errorf("no case of many rows for %v", p.Ops[0])
			seen[p.Ops[0]] = true
		}
	}
}

// wholeOps are operations that have neither rows nor replicas; all_reduce has separate
// cases.
var wholeOps = []graph.Op{graph.RunningMoments, graph.AllReduce, graph.SGD, graph.AdamW, graph.LARS,
	graph.EMA, graph.SumSquares, graph.TrustRatio, graph.ClipFactor, graph.QuantizeWeight}

func judged(t *testing.T, c devicetest.Case, fault sick) error {
	t.Helper()
	return c.Judge(t.Context(), func(context.Context, string) (device.Device, error) {
		d := fault
		d.Device = ref.New("sick")
		return &d, nil
	}, device.F32).Err
}

// leftovers returns an executable with runs that spoil the result if an earlier batch had more rows, as
// if rows of that batch were left in a buffer.
func leftovers() sickExecutable {
	most := 0
	return sickExecutable{run: func(ctx context.Context, x device.Executable, s device.Step) (device.Outcome,
		error) {
		o, err := x.Run(ctx, s)
		n := 0
		for _, r := range s.Rows {
			n += r
		}
		if err == nil && n < most && o.Outputs[0].Count() > 0 {
			worse(o.Outputs[0], 0)
		}
		most = max(most, n)
		return o, err
	}}
}

// onlyOf returns an executable that makes a fault in outputs with more channels than the given number,
// and only in those.
func onlyOf(channels int) sickExecutable {
	return sickExecutable{run: func(ctx context.Context, x device.Executable, s device.Step) (device.Outcome,
		error) {
		o, err := x.Run(ctx, s)
		if err != nil || len(o.Outputs) == 0 {
			return o, err
		}
		if t := o.Outputs[0]; len(t.Shape) > 1 && t.Shape[1] > channels && t.Count() > 0 {
			worse(t, channels)
		}
		return o, nil
	}}
}

func TestJudgeFindsWrongSizes(t *testing.T) {
	for _, f := range []struct {
		name  string
		fault sickExecutable
		finds string
		says  string
	}{
		{"dense from row 64 on", changed(64), "rows: dense: 37 to 19, bias", "65 rows in"},
		{"from row 999 on", changed(999), "rows: relu: 17 channels of 3x3", "1000 rows in 1 replicas"},
		{"replicas from 64 on", changed(64), "rows: moments: 5 channels of 3x2", "65 rows in"},
		{"what is left of a larger batch", leftovers(), "rows: channel_sum: 5 channels of 3x7",
			"65 rows in 65 replicas: replica 64 alone"},
		{"what is left, in training", leftovers(),
			"rows: batches that grow and shrink: small, batch norm over batch", "of 2 rows"},
		{"channel 1024", onlyOf(1024), "relu: 1031 channels", "1 of"},
		{"column 512", onlyOf(512), "dense: 129 to 1031", "of"},
		{"channel 512 of a sum", onlyOf(512), "channel_sum: 1031 channels", "of"},
	} {
		err := judged(t, caseNamed(t, f.finds), sick{x: f.fault})
		if err == nil || !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %s: %v, want an error with %q", f.name, f.finds, err, f.says)
		}
	}
}
