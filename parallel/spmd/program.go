package spmd

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// The training function is one pass over a batch for the replicas that a device holds.
// The kind of a value tells whether it exists for each row, for each replica, or once:
//
//	inputs                 rows: x, labels, ident       whole: inverse (1/denominator)
//	forward                rows    --Moments-->         replica moments --AllReduce--> whole
//	loss                   rows    --SoftmaxXent-->     replica loss, hits --AllReduce--> whole
//	backward               rows    --ConvGradWeight-->  replica gradients --AllReduce--> whole
//	outputs                whole loss, correct          replica moments
//	kept for commit        whole gradients "grad:NAME"
//
// The commit function (package train) reads the kept gradients and the state, and its
// updates are the next version. predict and estimate are forward passes only.

// Names of inputs and outputs of the training function.
const (
	InputIdent = "ident"         // rows i64[2]: epoch and sample, for dropout
	OutputLoss = step.OutputLoss // whole f64[1] or f64[3]: see package step
	OutputHits = step.OutputHits // whole f64[2]: see package step
)

// Training describes a training function. It minimises Loss for the graph's first output. If that
// output is a softmax over the classes or a sigmoid, and the loss includes it, its input is used: see
// graph.Function.OutputOp.
type Training struct {
	Loss losses.Loss
	// Auxiliary weights the losses of the auxiliary outputs. They affect the gradient only:
	// a step reports the loss of the first output. 0: no auxiliary loss.
	Auxiliary float64
	Seed      int64    // seed of the dropout
	Trained   []string // the state tensors that get gradients
	// PerReplica returns the gradients of each replica instead of keeping their sums.
	PerReplica bool
}

// Gradient returns the name of the whole gradient that the training function keeps for a
// state tensor. The commit function reads it.
func Gradient(state string) string { return step.GradientPrefix + state }

// momentsOf returns the name of the output with the moments of a batch norm.
func momentsOf(layer string) string { return step.MomentsPrefix + layer }

// TrainFunction returns the training function of a wrapped graph: the forward pass, the loss and the
// hits, the gradients of the trained tensors (whole, kept on the device) and the moments of every
// tracked batch norm for each replica. Its exchanges are reordered: see reorder.
func TrainFunction(wrapped *graph.Graph, o Training) (*graph.Function, error) {
	t, err := forward(graph.Train, wrapped, o)
	if err != nil {
		return nil, err
	}
	if err := t.finish(); err != nil {
		return nil, err
	}
	f, err := t.Builder.Function()
	if err != nil {
		return nil, err
	}
	return reorder(f, wrapped.State)
}

// EstimateFunction returns a function with only the moments of every tracked batch norm as results,
// computed by the forward pass of training. It is used to re-estimate the statistics for given weights.
func EstimateFunction(wrapped *graph.Graph) (*graph.Function, error) {
	t, err := forward(Estimate, wrapped, Training{})
	if err != nil {
		return nil, err
	}
	for _, m := range t.moments {
		t.Builder.Output(m.Name, m.Value, false)
	}
	f, err := t.Builder.Function()
	if err != nil {
		return nil, err
	}
	if f, err = graph.Prune(f, wrapped.State); err != nil {
		return nil, err
	}
	return reorder(f, wrapped.State)
}

// Estimate is the name of the function that EstimateFunction makes.
const Estimate = step.Estimate

// forward starts a function with the training form of a wrapped graph.
func forward(name string, wrapped *graph.Graph, o Training) (*trainBuilder, error) {
	table := wrapped.State
	layers, err := bn.Layers(wrapped.Main)
	if err != nil {
		return nil, err
	}
	t := &trainBuilder{Copier: graph.NewCopier(wrapped.Main, graph.NewBuilder(name, &table)), training: o,
		ones: graph.None, layers: layers}
	t.inputs()
	for i := range wrapped.Main.Nodes {
		t.node(&wrapped.Main.Nodes[i])
	}
	return t, t.Builder.Err()
}

type trainBuilder struct {
	graph.Copier
	training Training
	ident    graph.Value
	streams  int
	ones     graph.Value // a 1 for each row; None until a node needs it
	layers   []bn.Layer
	moments  []graph.Output
}

func (t *trainBuilder) inputs() {
	t.Inputs()
	for i := range t.From.Nodes {
		if t.From.Nodes[i].Op == graph.Dropout {
			t.ident = t.Builder.Input(InputIdent, graph.Type{Kind: graph.Rows, DType: tensor.I64, Shape: []int{2}})
			return
		}
	}
}

// node copies a node of the wrapped graph, in its training form.
func (t *trainBuilder) node(n *graph.Node) {
	switch n.Op {
	case graph.Split, graph.Gather:
		t.To[n.Out[0]] = t.Value(n.In[0])
	case graph.Track:
		layer := t.layers[len(t.moments)].Name // layers and track nodes have the same order
		t.moments = append(t.moments, graph.Output{Name: momentsOf(layer), Value: t.Value(n.In[0])})
	case graph.BatchNorm:
		t.frozen(n)
	case graph.Dropout:
		t.dropout(n)
	default:
		t.Copy(n)
	}
}

// dropout copies a dropout and gives it its random numbers. To drop whole samples, it multiplies
// each sample by the dropout of a 1, because devices only support dropout of elements.
func (t *trainBuilder) dropout(n *graph.Node) {
	name, x := t.From.NodeName(n), t.Value(n.In[0])
	drop := func(name string, x graph.Value) graph.Value {
		return t.Builder.Op(graph.Dropout, name, []graph.Value{x, t.ident}, "p", n.Float("p"),
			"seed", t.training.Seed, "stream", t.streams)
	}
	if n.Text("each") == "sample" {
		t.To[n.Out[0]] = t.Builder.Op(graph.Mul, name, []graph.Value{x, drop(name+".factor", t.one())})
	} else {
		t.To[n.Out[0]] = drop(name, x)
	}
	t.streams++
}

// one returns a 1 for each row. It compares the first number of the input with 0, multiplies the result
// by 0 and adds 1, so that it has a row for each row of the input and no gradient.
func (t *trainBuilder) one() graph.Value {
	if t.ones != graph.None {
		return t.ones
	}
	x := t.Value(t.From.Inputs[0])
	for i := range t.From.Nodes {
		if n := &t.From.Nodes[i]; n.Op == graph.Image { // image operation of the only input, after its split
			x = t.Value(n.Out[0])
		}
	}
	shape := t.Builder.Type(x).Shape
	first := t.Builder.Op(graph.Slice, InputIdent+".first", []graph.Value{x}, "begin", make([]int, len(shape)),
		"end", slices.Repeat([]int{1}, len(shape)))
	first = t.Builder.Op(graph.Reshape, InputIdent+".flat", []graph.Value{first}, "shape", []int{1})
	is := t.Builder.Op(graph.Compare, InputIdent+".compared", []graph.Value{first}, "of", "equal")
	t.ones = t.Builder.Op(graph.Affine, InputIdent+".one", []graph.Value{is}, "by", 0.0, "add", 1.0)
	return t.ones
}

// frozen expands a batch norm that uses its running statistics.
func (t *trainBuilder) frozen(n *graph.Node) {
	name := t.From.NodeName(n)
	m := t.Builder.Op(graph.RunningMoments, name+".running", []graph.Value{t.Value(n.In[3]), t.Value(n.In[4])})
	t.To[n.Out[0]] = t.Builder.Op(graph.Normalise, name,
		[]graph.Value{t.Value(n.In[0]), m, t.Value(n.In[1]), t.Value(n.In[2])}, "eps", n.Float("eps"))
}

// logits returns the value that the loss is computed from, in the shape of the first
// output: that output, or the input of its softmax or sigmoid.
func (t *trainBuilder) logits() (graph.Value, error) {
	if len(t.From.Outputs) == 0 {
		return graph.None, fmt.Errorf("graph %s has no output to train", t.From.Name)
	}
	out := t.From.Outputs[0].Value
	op, v := t.From.OutputOp(0)
	output := map[string]graph.Op{losses.CrossEntropy: graph.Softmax, losses.BinaryCrossEntropy: graph.Sigmoid}
	if op == 0 || op != output[t.training.Loss.Of] {
		return t.Value(out), nil
	}
	shape, logits := t.From.Values[out].Type.Shape, t.Value(v)
	if !slices.Equal(t.From.Values[v].Type.Shape, shape) {
		logits = t.Builder.Op(graph.Reshape, "loss.logits", []graph.Value{logits}, "shape", shape)
	}
	return logits, nil
}

func (t *trainBuilder) finish() error {
	logits, err := t.logits()
	if err != nil {
		return err
	}
	shape := t.Builder.Type(logits).Shape
	if len(shape) == 0 {
		return fmt.Errorf("output %s of graph %s is one number per row; a loss needs classes",
			t.From.Outputs[0].Name, t.From.Name)
	}
	of, err := t.training.Loss.Add(t.Builder, t.From, logits, t.training.PerReplica)
	if err != nil {
		return err
	}
	seeds := map[graph.Value]graph.Value{logits: of.Seed("loss.dlogits", logits)}
	if t.training.Auxiliary > 0 {
		outputs, err := t.auxiliary(shape)
		if err != nil {
			return err
		}
		for _, o := range outputs {
			name, aux := "loss.d"+o.Name, t.Value(o.Value)
			weighed := t.Builder.Op(graph.Affine, name, []graph.Value{of.Seed(name+".whole", aux)},
				"by", t.training.Auxiliary)
			if other, ok := seeds[aux]; ok {
				weighed = t.Builder.Op(graph.Add, "loss.both", []graph.Value{other, weighed})
			}
			seeds[aux] = weighed
		}
	}
	return t.reduce(of, seeds)
}

// auxiliary returns the auxiliary outputs, which have the shape of the logits.
func (t *trainBuilder) auxiliary(shape []int) (outputs []graph.Output, err error) {
	for _, o := range t.From.Outputs {
		if !graph.IsAuxiliary(o.Name) {
			continue
		}
		if is := t.From.Values[o.Value].Type.Shape; !slices.Equal(is, shape) {
			return nil, fmt.Errorf("output %s of graph %s has shape %v, the logits have %v", o.Name,
				t.From.Name, is, shape)
		}
		outputs = append(outputs, o)
	}
	if outputs == nil {
		return nil, fmt.Errorf("graph %s has no output %s", t.From.Name, graph.Auxiliary)
	}
	return outputs, nil
}

// reduce appends the backward pass and the closing exchange.
func (t *trainBuilder) reduce(loss losses.Nodes, seeds map[graph.Value]graph.Value) error {
	var wrt []graph.Value
	for _, name := range t.training.Trained {
		wrt = append(wrt, t.Builder.Read(name))
	}
	grads, err := graph.Gradient(t.Builder, seeds, wrt)
	if err != nil {
		return err
	}
	whole := func(name string, v graph.Value, pairs ...any) graph.Value {
		if v == graph.None || t.Builder.Type(v).Kind == graph.Whole {
			return v
		}
		return t.Builder.Op(graph.AllReduce, t.Builder.UniqueName(name), []graph.Value{v}, pairs...)
	}
	lossSum, partnersSum := whole("loss.sum", loss.Sum, "of", loss.Of), whole("loss.partners.sum", loss.Partners)
	hitSum := whole("correct.sum", loss.Hits)
	positivesSum := whole("loss.positives.sum", loss.Positives, "of", "moments")
	sums := make([]graph.Value, len(wrt))
	for i, name := range t.training.Trained {
		var ok bool
		if sums[i], ok = grads[wrt[i]]; !ok {
			return problem.Advise("freeze it", "graph %s: %s does not influence the loss", t.From.Name, name)
		}
		if !t.training.PerReplica {
			sums[i] = whole(name+".grad", sums[i])
		} else if t.Builder.Type(sums[i]).Kind != graph.Replica {
			return fmt.Errorf("graph %s: the gradient of %s exists over all replicas only", t.From.Name, name)
		}
	}
	t.Builder.Output(OutputLoss, lossSum, false)
	if hitSum != graph.None {
		t.Builder.Output(OutputHits, hitSum, false)
	}
	if partnersSum != graph.None {
		t.Builder.Output(losses.OutputPartnersLoss, partnersSum, false)
	}
	if positivesSum != graph.None {
		t.Builder.Output(losses.OutputPositives, positivesSum, false)
	}
	for _, m := range t.moments {
		t.Builder.Output(m.Name, m.Value, false)
	}
	for i, name := range t.training.Trained {
		t.Builder.Output(Gradient(name), sums[i], !t.training.PerReplica)
	}
	return t.Builder.Err()
}

// PredictProgram makes a program that only predicts with a template: PredictFunction with
// the template's state, checked.
func PredictProgram(template *graph.Graph) (*graph.Program, error) {
	predict, err := PredictFunction(template)
	if err != nil {
		return nil, err
	}
	p := &graph.Program{Name: template.Name, State: template.State, Functions: []*graph.Function{predict}}
	return p, p.Check()
}

// PredictFunction makes the function for evaluation and prediction: the template in eval
// mode.
func PredictFunction(template *graph.Graph) (*graph.Function, error) {
	table := template.State
	c := graph.NewCopier(template.Main, graph.NewBuilder(graph.Predict, &table))
	c.Inputs()
	for i := range template.Main.Nodes {
		n := &template.Main.Nodes[i]
		if n.Op == graph.Dropout {
			c.To[n.Out[0]] = c.Value(n.In[0])
			continue
		}
		c.Copy(n)
	}
	for _, r := range template.Main.Outputs {
		c.Builder.Output(r.Name, c.Value(r.Value), false)
	}
	return c.Builder.Function()
}
