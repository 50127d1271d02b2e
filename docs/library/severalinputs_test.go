package library_test

import (
	"context"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

func Example_severalInputs() {
	// A model with two inputs, in the form that the reader of ONNX makes: a row has the numbers of both inputs.
	const template = "several.bnm"
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "weigh"

func main(inputs rows f32[5]) {
  image.flat = slice(inputs, begin=[0], end=[4])
  image = reshape(image.flat, shape=[2,2])
  state = slice(inputs, begin=[4], end=[5])
  y = mul(image, state)
  return y rows = y
}
`))
	check(err)
	m, err := models.New(g)
	check(err)
	m.Fields = []models.Field{{Name: "image", DType: tensor.F32, Shape: []int{2, 2}},
		{Name: "state", DType: tensor.F32, Shape: []int{1}}}
	_, err = serialize.WriteModel(template, m)
	check(err)
	defer os.Remove(template)

	// Each input is an array with the rows as first axis. Here there is one row.
	p, err := bnctl.Load(template, bnctl.LoadOptions{})
	check(err)
	defer p.Close()
	for _, in := range p.Inputs() {
		fmt.Println(in.Name, in.Type.Shape)
	}
	image, state := tensor.New(tensor.F32, 1, 2, 2), tensor.New(tensor.F32, 1, 1)
	copy(image.F32(), []float32{1, 2, 3, 4})
	state.F32()[0] = 10
	outputs, err := p.Run(context.Background(), image, state)
	check(err)
	fmt.Println(outputs[0].Shape, outputs[0].F32())
	// Output:
	// image [2 2]
	// state [1]
	// [1 2 2] [10 20 30 40]
}
