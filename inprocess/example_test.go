package inprocess_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// A program usually gets the bytes of a template from package embed, and calls Load. This example uses New
// with an untrained model.
func ExampleNew() {
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := inprocess.New(m, inprocess.Options{Top: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	photo := tensor.New(tensor.U8, 100, 80, 3) // black
	answers, err := p.Predict(context.Background(), inprocess.Image{Pixels: photo})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(answers), len(answers[0].Classes), answers[0].Outputs[0].Shape)
	fmt.Println(p.Memory() < 8<<20)
	// Output:
	// 1 3 [10]
	// true
}
