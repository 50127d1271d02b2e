package graph_test

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A model is built node by node. People write its text form, files store it, and devices receive it.
func ExampleBuilder() {
	g := &graph.Graph{Name: "tiny"}
	b := graph.NewBuilder("main", &g.State)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{4}})
	w := b.Declare(graph.State{Name: "fc.weight", DType: tensor.F32, Shape: []int{2, 4}, Role: graph.Weight,
		Init: graph.Init{Rule: "he_normal", Args: []float64{0}}})
	y := b.Op(graph.Dense, "fc", []graph.Value{x, w})
	y = b.Op(graph.LeakyRelu, "out", []graph.Value{y}, "alpha", 0.1)
	b.Output("y", y, false)
	var err error
	if g.Main, err = b.Function(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", g.Text())
	// Output:
	// bnctl graph 1
	// graph "tiny"
	//
	// state fc.weight f32[2,4] weight he_normal(0)
	//
	// func main(x rows f32[4]) {
	//   fc = dense(x, @fc.weight)  # rows f32[2]
	//   out = leaky_relu(fc, alpha=0.1)  # rows f32[2]
	//   return y rows = out
	// }
}

// Errors name the position and the fault in a text.
func ExampleParseGraph() {
	_, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "wrong"

state k f32[8,3,3,3] weight

func main(x rows f32[1,28,28]) {
  y = conv(x, @k)
}`))
	fmt.Println(err)
	// Output:
	// graph: line 7, column 7: function main: node y (conv): 1 input and 8 output channels in 1 groups do not fit a kernel with 3 channels per group
}

// A training step: the model, normalised over the batch, and its gradient. The gradients of gamma and beta
// are whole. The gradient of the weight is a replica value, which is still to be reduced.
func ExampleGradient() {
	var state []graph.State
	declare := func(b *graph.Builder, name string, role graph.Role, shape ...int) graph.Value {
		return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: role})
	}
	b := graph.NewBuilder(graph.Train, &state)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{4}})
	w := declare(b, "w", graph.Weight, 3, 4)
	fc := b.Op(graph.Dense, "fc", []graph.Value{x, w})
	m := b.Op(graph.AllReduce, "bn.all", []graph.Value{b.Op(graph.Moments, "bn.moments", []graph.Value{fc})},
		"of", "moments")
	gamma, beta := declare(b, "gamma", graph.Gamma, 3), declare(b, "beta", graph.Beta, 3)
	y := b.Op(graph.Normalise, "bn", []graph.Value{fc, m, gamma, beta})
	labels := b.Input("labels", graph.Type{Kind: graph.Rows, DType: tensor.I32})
	inverse := b.Input("inverse", graph.Type{Kind: graph.Whole, DType: tensor.F32})
	loss := b.Op(graph.SoftmaxXent, "loss", []graph.Value{y, labels})

	seeds := map[graph.Value]graph.Value{loss: inverse}
	grads, err := graph.Gradient(b, seeds, []graph.Value{w, gamma, beta})
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Output("dw", grads[w], false)
	f, err := b.Function()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", (&graph.Program{Name: "step", State: state, Functions: []*graph.Function{f}}).Text())
	// Output:
	// bnctl program 1
	// program "step"
	//
	// state w f32[3,4] weight
	// state gamma f32[3] gamma
	// state beta f32[3] beta
	//
	// func train(x rows f32[4]) {
	//   fc = dense(x, @w)  # rows f32[3]
	//   bn.moments = moments(fc)  # replica f64[7]
	//   bn.all = all_reduce(bn.moments, of="moments")  # whole f64[7]
	//   bn = normalise(fc, bn.all, @gamma, @beta)  # rows f32[3]
	//   input labels rows i32[]
	//   input inverse whole f32[]
	//   loss = softmax_xent(bn, labels)  # replica f64[1]
	//   loss.dx = softmax_xent_grad(bn, labels, inverse)  # rows f32[3]
	//   bn.sums = normalise_grad_sums(fc, loss.dx, bn.all)  # replica f64[6]
	//   bn.sums.all = all_reduce(bn.sums)  # whole f64[6]
	//   bn.dx = normalise_grad_input(fc, loss.dx, bn.all, bn.sums.all, @gamma)  # rows f32[3]
	//   bn.dgamma, bn.dbeta = normalise_grad_params(bn.all, bn.sums.all)  # whole f32[3], whole f32[3]
	//   fc.dw = dense_grad_weight(x, bn.dx)  # replica f32[3,4]
	//   return dw replica = fc.dw
	// }
}
