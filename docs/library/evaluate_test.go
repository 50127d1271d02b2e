package library_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/predict"
)

func Example_evaluate() {
	ctx := context.Background()
	m := trained(bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:500"})

	src, err := data.Open(ctx, "glyphs:200", data.Options{Split: data.Test})
	check(err)
	defer src.Close()
	m, src, err = predict.Evaluable(m, src, nil)
	check(err)
	p, err := predict.Open(ctx, m, predict.Options{Fleet: fleet.Options{Devices: "2xcpu"}, Batch: 64})
	check(err)
	defer p.Close()
	e, err := p.Evaluate(ctx, src, 0)
	check(err)
	fmt.Println(e.Samples, "samples, most of them right:", e.Accuracy() > 0.5)

	// Predict also accepts a batch as an array instead of a source. The first axis is the rows, as in the
	// model's input.
	x, err := src.Sample(ctx, 0)
	check(err)
	x.Shape = append([]int{1}, x.Shape...)
	outputs, err := p.Predict(ctx, x)
	check(err)
	fmt.Println(outputs[0].Shape)
	// Output:
	// 200 samples, most of them right: true
	// [1 10]
}
