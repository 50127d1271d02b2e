package evaluation_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/tensor"
)

// Two samples of class 0 are counted: the model predicts class 0 and class 1.
func ExampleEvaluation_Add() {
	var e evaluation.Evaluation
	scores := tensor.Of([]float32{2, 1, 0, 3}, 2, 2)
	if err := e.Add(scores, tensor.Of([]int32{0, 0}, 2), false); err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Accuracy(), e.Misclassifications())
	// Output: 0.5 [{0 1 1}]
}
