package predict_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// The digits of a data source, on the reference device. A model usually comes from modelfile.OpenReadOnly;
// this model is new and untrained.
func ExamplePredictor_All() {
	ctx := context.Background()
	src, err := data.Open(ctx, "glyphs:3", data.Options{Split: data.Test})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	answers, err := predict.NewAnswers(m, predict.AnswerOptions{Top: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := predict.Open(ctx, m, predict.Options{Fleet: fleet.Options{Devices: "ref"}, Batch: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	_, err = p.All(ctx, src, predict.Reading{}, func(sample int, outputs []tensor.Tensor) error {
		best, err := answers.Best(outputs)
		if err != nil {
			return err
		}
		fmt.Println(src.Name(sample), best[0].P > 0.1, len(best[0].Label))
		return nil
	})
	fmt.Println(err)
	// Output:
	// glyph 0 of test true 1
	// glyph 1 of test true 1
	// glyph 2 of test true 1
	// <nil>
}
