package quantize

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// In a training for int8, the scales may follow the weights as these change. The model in training
// has the graph of a template, with the scales of its feature maps as attributes. Between two
// epochs Rebuild makes it again from its weights:
//
//	trained weights -> the float32 model -> folded, if it is time -> measured -> the model for training
//
// Trained weights and biases stay as they are, unless batch norms are folded into them.

// Follow determines after which epochs the model of a training for int8 is rebuilt. The zero value means
// never: ranges are measured, and batch norms folded, before the first step.
type Follow struct {
	// Ranges is the number of epochs after which the ranges are measured again, on the same
	// samples. Either end of a range moves halfway to the measured one. After that the
	// ranges stay.
	Ranges int
	// Fold is the number of epochs before batch norms are folded. Until then they are computed
	// in float32 after the sums of bytes, with the statistics of their batches. Then they
	// become part of the layers, with their running statistics.
	Fold int
}

// following is the content of models.Model.Float: the data that Rebuild needs in addition
// to a model in training.
type following struct {
	Graph  string            `json:"graph"`  // graph of the float32 model, in text form
	Names  map[string]string `json:"names"`  // names of trained tensors, by their names in Graph
	Ranges map[string]Range  `json:"ranges"` // ranges by the names of values of Graph
	Stays  map[string]string `json:"stays"`  // nodes that stay float32, and why
	Method string            `json:"method"` // method that chooses a range from samples
}

// Rebuild returns the model to continue a training with after an epoch, counted from 1, if o.Follow has a
// change for it. m is the model with the trained weights. Tensors that both models have keep their names
// and values, except that folding replaces weights, biases and batch norms.
func Rebuild(ctx context.Context, m *models.Model, epoch int, o Options) (*models.Model, error) {
	var f following
	if err := json.Unmarshal(m.Float, &f); err != nil {
		return nil, fmt.Errorf("the float32 model of the training: %w", err)
	}
	float, err := f.model(m)
	if err != nil {
		return nil, err
	}
	if epoch == o.Follow.Fold {
		if float, _, err = formats.Fold(float); err != nil {
			return nil, err
		}
		f.forgetProducts(float.Graph.Main)
	}
	s, err := readSamples(ctx, float, o)
	if err != nil {
		return nil, err
	}
	p := &prepared{Model: float, stays: f.Stays}
	all, err := p.measure(ctx, s, p.measuredValues())
	if err != nil {
		return nil, fmt.Errorf("measuring ranges after epoch %d: %w", epoch, err)
	}
	known := p.knownBy(all, f.Method)
	known.channels = nil // training has corrected the biases
	if epoch <= o.Follow.Ranges {
		f.move(float.Graph.Main, &known)
	}
	f.keep(float.Graph.Main, &known)
	p.spread(&known)
	return p.follow(&f, known)
}

// model returns the float32 model with the trained weights of m.
func (f *following) model(m *models.Model) (*models.Model, error) {
	g, err := graph.ParseGraph([]byte(f.Graph))
	if err != nil {
		return nil, fmt.Errorf("the float32 model of the training: %w", err)
	}
	out := *m
	out.Graph, out.Float, out.State = g, nil, map[string]tensor.Tensor{}
	for _, s := range g.State {
		name, trained := f.Names[s.Name]
		if !trained {
			name = s.Name
		}
		out.State[s.Name] = m.State[name]
	}
	return &out, out.CheckWhole()
}

// forgetProducts forgets the ranges of the results of convolutions and dense layers, which include
// batch norms from now on.
func (f *following) forgetProducts(main *graph.Function) {
	for i := range main.Nodes {
		if n := &main.Nodes[i]; isProduct(n.Op) {
			delete(f.Ranges, main.Values[n.Out[0]].Name)
		}
	}
}

// move moves the ends of the ranges halfway to the measured ones.
func (f *following) move(main *graph.Function, measured *knowledge) {
	for v, r := range measured.ranges {
		name := main.Values[v].Name
		if was, ok := f.Ranges[name]; ok {
			f.Ranges[name] = Range{(was.Low + r.Low) / 2, (was.High + r.High) / 2}
		}
	}
}

// keep replaces measured ranges by those that were known before.
func (f *following) keep(main *graph.Function, measured *knowledge) {
	for v := range measured.ranges {
		if was, ok := f.Ranges[main.Values[v].Name]; ok {
			measured.ranges[v] = was
		}
	}
}

// follow returns the model for training with known ranges, and with what Rebuild needs.
func (p *prepared) follow(f *following, known knowledge) (*models.Model, error) {
	known.divisors = nil
	b := &builder{model: p.Model, knowledge: known, stays: f.Stays, trains: true, plain: true}
	trained, err := b.build()
	if err != nil {
		return nil, err
	}
	main := p.Graph.Main
	f.Graph, f.Names, f.Ranges = string(p.Graph.Text()), b.names, map[string]Range{}
	for v, r := range known.ranges {
		f.Ranges[main.Values[v].Name] = r
	}
	trained.Model.Float, err = json.Marshal(f)
	return trained.Model, err
}

// withBiases returns m with a bias of zeros for each convolution or dense layer that can become
// bytes and has no bias: training for int8 adds one.
func withBiases(m *models.Model) (*models.Model, error) {
	out, table := *m, slices.Clone(m.Graph.State)
	out.State = maps.Clone(m.State)
	b := &builder{}
	b.Copier = graph.NewCopier(m.Graph.Main, graph.NewBuilder(m.Graph.Main.Name, &table))
	b.Inputs()
	for i := range b.From.Nodes {
		n := &b.From.Nodes[i]
		if !b.takesProduct(n) || len(n.In) > 2 && n.In[2] != graph.None {
			b.Copy(n)
			continue
		}
		weight := b.From.Values[n.In[1]]
		s := graph.State{Name: strings.TrimSuffix(weight.State, ".weight") + ".bias", DType: tensor.F32,
			Shape: weight.Type.Shape[:1], Role: graph.Bias}
		for out.State[s.Name].Shape != nil {
			s.Name += "_"
		}
		out.State[s.Name] = tensor.New(s.DType, s.Shape...)
		in := []graph.Value{b.Value(n.In[0]), b.Value(n.In[1]), b.Builder.Declare(s)}
		for i, v := range b.Builder.Node(n.Op, b.From.NodeName(n), n.Attrs, in...) {
			b.To[n.Out[i]] = v
		}
	}
	b.Outputs()
	main, err := b.Builder.Function()
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: table, Main: main}
	return &out, err
}
