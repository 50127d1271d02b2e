package pipeline_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/pipeline"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// doubles is an Owner of two devices, which double the input of each layer.
type doubles struct{}

func (doubles) Devices() []pipeline.Device {
	return []pipeline.Device{{Name: "double", Info: device.Info{MemoryFree: 1 << 30}}, {Name: "double again"}}
}

func (doubles) Open(_ context.Context, l pipeline.Loading) (pipeline.Stage, error) {
	return &doubling{program: l.Program}, nil
}

// doubling has only the methods of a Stage that a Predictor calls when no device is lost.
type doubling struct {
	pipeline.Stage
	program *graph.Program
}

func (s *doubling) Program() *graph.Program    { return s.program }
func (s *doubling) Columns() []pipeline.Column { return []pipeline.Column{nil} }
func (s *doubling) Rows() int                  { return 1 }
func (s *doubling) Close() error               { return nil }
func (s *doubling) Predict(_ context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
	x := in[0].Clone()
	for i := range x.F32() {
		x.F32()[i] *= 2
	}
	return []tensor.Tensor{x}, nil
}

// A network of two layers is divided into two stages. The devices double every number.
func Example() {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "two"

state one.weight f32[2,2] weight he_normal(0)
state two.weight f32[2,2] weight he_normal(0)

func main(x rows f32[2]) {
  one = dense(x, @one.weight)
  two = dense(one, @two.weight)
  return outputs rows = two
}
`))
	if err != nil {
		log.Fatal(err)
	}
	program, err := spmd.PredictProgram(g)
	if err != nil {
		log.Fatal(err)
	}
	p, err := pipeline.OpenPredictor(context.Background(), g, program, stage.Spec{Number: 2}, nil, doubles{},
		pipeline.Config{Batch: 2, Samples: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	outputs, err := p.Predict(context.Background(), tensor.Of([]float32{1, 2, 3, 4}, 2, 2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outputs[0].F32())
	// Output:
	// [4 8 12 16]
}
