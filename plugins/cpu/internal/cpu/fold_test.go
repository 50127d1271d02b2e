package cpu

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// predicted returns the predictions of an executable for the first input of a trainer.
func predicted(t *testing.T, x device.Executable, tr *trainer) tensor.Tensor {
	t.Helper()
	images := tr.step.Inputs[:1]
	step := device.Step{Function: graph.Predict, Rows: []int{images[0].Shape[0]}, Inputs: images}
	out, err := x.Run(context.Background(), step)
	if err != nil {
		t.Fatal(err)
	}
	return out.Outputs[0].Clone()
}

// TestFoldedWeightsFollow trains a program that folds norms into weights that change. Its predictions must
// have the bits of a program that only predicts and was given the same state once. So the folded weights
// must change after every commit, and after every write of a state tensor of the norm.
func TestFoldedWeightsFollow(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"resnet20", "mobilenetv2"} {
		d := openSet(t, "auto", 2)
		tr := newTrainer(t, d, name, 3, 1, models.Size{Height: 32, Width: 32, Channels: 3})
		defer tr.Close()
		p := &graph.Program{Name: "predict", State: tr.program.State,
			Functions: []*graph.Function{tr.program.Function(graph.Predict)}}
		seen := map[string]bool{}
		check := func(after string) {
			t.Helper()
			fresh, err := d.Load(ctx, p, device.Capacity{Rows: 3, Replicas: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer fresh.Close()
			for _, s := range p.State {
				v, err := tr.Read(ctx, s.Name)
				if err == nil {
					err = fresh.Write(ctx, s.Name, v)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			got := predicted(t, tr, tr)
			if !tensor.Equal(got, predicted(t, fresh, tr)) {
				t.Errorf("%s after %s: other bits than those of a program that only predicts", name, after)
			}
			if seen[string(got.Bytes)] {
				t.Errorf("%s after %s: predicts what it did before", name, after)
			}
			seen[string(got.Bytes)] = true
		}
		check("loading")
		tr.run(t)
		check("a commit")
		for _, role := range []graph.Role{graph.Gamma, graph.Beta, graph.Mean, graph.Variance} {
			for _, s := range p.State {
				if s.Role != role {
					continue
				}
				v, err := tr.Read(ctx, s.Name)
				if err != nil {
					t.Fatal(err)
				}
				for i := range v.F32() {
					v.F32()[i] += 0.25
				}
				if err := tr.Write(ctx, s.Name, v); err != nil {
					t.Fatal(err)
				}
				break
			}
			check("writing a " + string(role))
		}
	}
}
