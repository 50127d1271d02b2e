package answer_test

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/tensor"
)

// The best classes of the logits that a classifier gave for one sample.
func ExampleAnswers_Best() {
	m, err := models.Build("mlp-bn", models.Options{Classes: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Labels = []string{"disc", "square", "triangle"}
	a, err := answer.New(m, answer.Options{Top: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := a.Best([]tensor.Tensor{tensor.Of([]float32{0, 3, 1}, 3)})
	for _, class := range best {
		fmt.Printf("%s %.3f\n", class.Label, class.P)
	}
	fmt.Println(err)
	// Output:
	// square 0.844
	// triangle 0.114
	// <nil>
}
