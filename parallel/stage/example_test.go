package stage_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
)

// A network of two layers, each in a separate stage.
func Example() {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "two"

state one.weight f32[8,4] weight he_normal(0)
state two.weight f32[3,8] weight he_normal(0)

func main(x rows f32[4]) {
  one = dense(x, @one.weight)
  relu = relu(one)
  two = dense(relu, @two.weight)
  return logits rows = two
}
`))
	if err != nil {
		log.Fatal(err)
	}
	program, err := spmd.PredictProgram(g)
	if err != nil {
		log.Fatal(err)
	}
	network, err := stage.New(g)
	if err != nil {
		log.Fatal(err)
	}
	second, err := network.Find("two")
	if err != nil {
		log.Fatal(err)
	}
	division, err := network.Divide([]int{second})
	if err != nil {
		log.Fatal(err)
	}
	programs, err := division.Programs(program)
	if err != nil {
		log.Fatal(err)
	}
	for i, p := range programs {
		f := p.Function(graph.Predict)
		fmt.Println(division.Layers(i), "yield", f.Outputs[0].Name)
	}
	// Output:
	// [one relu] yield across:relu
	// [two] yield logits
}
