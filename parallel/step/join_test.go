package step

import (
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestResultOf: loss and counts come from one device, replica outputs from all devices in order,
// and outputs that stay on the devices are left out.
func TestResultOf(t *testing.T) {
	f := &graph.Function{Outputs: []graph.Output{{Name: OutputLoss}, {Name: GradientPrefix + "kept", Keep: true},
		{Name: OutputHits}, {Name: MomentsPrefix + "a"}, {Name: GradientPrefix + "w"}}}
	var outs []device.Outcome
	for i, rows := range []int{2, 1} {
		moments, gradients := tensor.New(tensor.F64, rows, 2), tensor.New(tensor.F32, rows, 1)
		for r := range rows {
			moments.F64()[2*r], moments.F64()[2*r+1] = float64(2*i+r), float64(10+2*i+r)
			gradients.F32()[r] = float32(20 + 2*i + r)
		}
		outs = append(outs, device.Outcome{Outputs: []tensor.Tensor{tensor.Of([]float64{7}, 1),
			tensor.Of([]float64{3, 4}, 2), moments, gradients}})
	}
	r := ResultOf(f, outs, Timing{Took: 5})
	got := fmt.Sprint(r.Loss, r.Correct, r.Counted, len(r.Moments), r.Moments[0].Shape, r.Moments[0].F64(),
		len(r.Gradients), r.Gradients[0].Shape, r.Gradients[0].F32(), r.Timing.Took)
	if want := "7 3 4 1 [3 2] [0 10 1 11 2 12] 1 [3 1] [20 21 22] 5ns"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
