package format_test

import (
	"fmt"
	"log"
	"os"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// The example writes a table of the best classes. predict.Predictor.All would supply the outputs.
func ExampleCSV() {
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	a, err := predict.NewAnswers(m, predict.AnswerOptions{Top: 2})
	if err != nil {
		log.Fatal(err)
	}
	w := format.CSV(a, os.Stdout)
	logits := tensor.Of([]float32{0, 0, 0, 9, 0, 0, 0, 8, 0, 0}, 10)
	if err := w.Write("digit.png", []tensor.Tensor{logits}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.End())
	// Output:
	// input,rank,label,index,p
	// digit.png,1,3,3,0.73053133
	// digit.png,2,7,7,0.26874745
	// <nil>
}
