package losses_test

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
)

const line = `bnctl graph 1
graph "line"

state fc.weight f32[3,4] weight he_normal(0)

func main(x rows f32[4]) {
  fc = dense(x, @fc.weight)
  return y rows = fc
}
`

// A training function has the inputs of its loss, which each batch provides.
func Example() {
	g, err := graph.ParseGraph([]byte(line))
	if err != nil {
		fmt.Println(err)
		return
	}
	wrapped, err := spmd.Wrap(g, spmd.Options{Replicas: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, of := range []string{losses.CrossEntropy, losses.BinaryCrossEntropy, losses.HuberError} {
		l := losses.Loss{Of: of, HuberDelta: 1}
		f, err := spmd.TrainFunction(wrapped, spmd.Training{Loss: l, Trained: []string{"fc.weight"}})
		if err != nil {
			fmt.Println(err)
			return
		}
		var inputs []string
		for _, v := range f.Inputs {
			inputs = append(inputs, f.Values[v].Name)
		}
		fmt.Println(inputs)
	}
	// Output:
	// [x labels inverse]
	// [x labels inverse positive negative]
	// [x inverse target scale]
}
