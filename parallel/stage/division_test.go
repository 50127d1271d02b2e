package stage_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// residual has everything that matters for a cut: a norm after its product, a branch that spans
// layers, a dropout of samples, an auxiliary head, and a softmax that the loss skips because it
// reads the logits.
const residual = `bnctl graph 1
graph "residual"

state a.weight f32[4,2,3,3] weight he_normal(0)
state a.bn.gamma f32[4] gamma ones
state a.bn.beta f32[4] beta zeros
state a.bn.mean f32[4] mean zeros
state a.bn.variance f32[4] variance ones
state b.weight f32[4,4,3,3] weight he_normal(0)
state b.bn.gamma f32[4] gamma ones
state b.bn.beta f32[4] beta zeros
state b.bn.mean f32[4] mean zeros
state b.bn.variance f32[4] variance ones
state c.weight f32[4,4,3,3] weight he_normal(0)
state fc.weight f32[3,4] weight he_normal(0)
state fc.bias f32[3] bias zeros
state side.weight f32[3,4] weight he_normal(0)

func main(x rows f32[2,5,5]) {
  a = conv(x, @a.weight, pad=[1,1,1,1])
  a.bn = batch_norm(a, @a.bn.gamma, @a.bn.beta, @a.bn.mean, @a.bn.variance)
  a.relu = relu(a.bn)
  side.pool = global_avg_pool(a.relu)
  side.flat = reshape(side.pool, shape=[4])
  side = dense(side.flat, @side.weight)
  b = conv(a.relu, @b.weight, pad=[1,1,1,1])
  b.bn = batch_norm(b, @b.bn.gamma, @b.bn.beta, @b.bn.mean, @b.bn.variance)
  b.drop = dropout(b.bn, p=0.25, each="sample")
  b.add = add(b.drop, a.relu)
  b.relu = relu(b.add)
  c = conv(b.relu, @c.weight, pad=[1,1,1,1])
  c.add = add(c, a.relu)
  pool = global_avg_pool(c.add)
  flat = reshape(pool, shape=[4])
  drop = dropout(flat, p=0.5)
  fc = dense(drop, @fc.weight, @fc.bias)
  softmax = softmax(fc)
  return probabilities rows = softmax
  return aux rows = side
}
`

func parse(t *testing.T, text string) *graph.Graph {
	t.Helper()
	g, err := graph.ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// programOf returns the training program of a recipe, and its state.
func programOf(t *testing.T, g *graph.Graph, r *recipe.Recipe) (*graph.Program, map[string]tensor.Tensor) {
	t.Helper()
	m := &models.Model{Architecture: g.Name, Graph: g, State: map[string]tensor.Tensor{}}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	for name, s := range m.State { // no tensor may have all zeros or all ones
		d := tensor.NewPhilox(uint64(len(name)), 7).Draws(0, 0)
		for i := range s.F32() {
			s.F32()[i] += float32(0.25 + d.Float64()/4)
		}
	}
	w, err := spmd.Wrap(g, spmd.Options{Replicas: r.Replicas, BN: r.BN})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := train.Trained(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := train.Program(r, g, w, trained)
	if err != nil {
		t.Fatal(err)
	}
	return p, m.State
}

func recipeOf(mode bn.Mode) *recipe.Recipe {
	r := recipe.Default("residual")
	r.BN, r.Replicas, r.Batch, r.AuxWeight, r.Seed, r.ClipNorm, r.EMA = mode, 4, 8, 0.3, 5, 0.1, 0.9
	return r
}

// machine evaluates functions one by one; values that they keep are ordinary outputs.
type machine struct {
	t     *testing.T
	dev   device.Device
	state map[string]tensor.Tensor
	rows  []int
}

func (m *machine) run(f *graph.Function, table []graph.State, rows []int,
	in map[string]tensor.Tensor) map[string]tensor.Tensor {
	m.t.Helper()
	if f == nil {
		return nil
	}
	fn := f.Clone()
	fn.Name = "whole"
	var names []string
	for i := range fn.Outputs {
		fn.Outputs[i].Keep = false
		names = append(names, fn.Outputs[i].Name)
	}
	for i, u := range fn.Updates {
		fn.Outputs = append(fn.Outputs, graph.Output{Name: fmt.Sprintf("update.%d", i), Value: u.Value})
		names = append(names, "next:"+u.State)
	}
	fn.Updates = nil
	p := &graph.Program{Name: "p", State: table, Functions: []*graph.Function{fn}}
	if err := p.Check(); err != nil {
		m.t.Fatal(err)
	}
	total := 0
	for _, n := range rows {
		total += n
	}
	x, err := m.dev.Load(m.t.Context(), p, device.Capacity{Rows: total, Replicas: len(rows)})
	if err != nil {
		m.t.Fatal(f.Name, err)
	}
	defer x.Close()
	for _, s := range table {
		v, ok := m.state[s.Name]
		if !ok {
			v = tensor.New(s.DType, s.Shape...)
		}
		if err := x.Write(m.t.Context(), s.Name, v); err != nil {
			m.t.Fatal(err)
		}
	}
	s := device.Step{Function: "whole", Number: 1, Rows: rows}
	for _, v := range fn.Inputs {
		given, ok := in[fn.Values[v].Name]
		if !ok {
			m.t.Fatalf("%s: nobody gives %s", f.Name, fn.Values[v].Name)
		}
		s.Inputs = append(s.Inputs, given)
	}
	o, err := x.Run(m.t.Context(), s)
	if err != nil {
		m.t.Fatal(f.Name, err)
	}
	out := map[string]tensor.Tensor{}
	for i, name := range names {
		out[name] = o.Outputs[i]
	}
	return out
}

// batch is the inputs of a step.
func (m *machine) batch(f *graph.Function) map[string]tensor.Tensor {
	total := 0
	for _, n := range m.rows {
		total += n
	}
	in := map[string]tensor.Tensor{}
	d := tensor.NewPhilox(3, 7).Draws(0, 0)
	for _, v := range f.Inputs {
		variable := f.Values[v]
		x := tensor.New(variable.Type.DType, variable.Type.Sized(total, len(m.rows))...)
		switch variable.Type.DType {
		case tensor.F32:
			for i := range x.F32() {
				x.F32()[i] = float32(d.Normal())
			}
		case tensor.I32:
			for i := range x.I32() {
				x.I32()[i] = int32(i % 3)
			}
		case tensor.I64:
			for i := range x.I64() {
				x.I64()[i] = int64(i)
			}
		}
		in[variable.Name] = x
	}
	return in
}

// stepped runs a step over stages. A run has the replicas with the given numbers. stepped returns
// all outputs, and the next state.
func (m *machine) stepped(shares []*graph.Program, in map[string]tensor.Tensor,
	runs [][]int) map[string]tensor.Tensor {
	n := len(shares)
	all := map[string]tensor.Tensor{}
	leaves := make([]map[string][]tensor.Tensor, n)
	retained := make([]map[string]tensor.Tensor, n)
	for s := range shares {
		leaves[s], retained[s] = map[string][]tensor.Tensor{}, map[string]tensor.Tensor{}
	}
	for _, replicas := range runs {
		from, to, rows := 0, 0, []int{}
		for r, k := range m.rows {
			if r < replicas[0] {
				from += k
			}
			if slices.Contains(replicas, r) {
				rows = append(rows, k)
			}
			if r <= replicas[len(replicas)-1] {
				to += k
			}
		}
		given := map[string]tensor.Tensor{}
		for name, x := range in {
			given[name] = x
			if len(x.Shape) > 0 {
				given[name] = x.Rows(from, to)
			}
		}
		take := func(out map[string]tensor.Tensor, s int) {
			for name, x := range out {
				switch {
				case strings.HasPrefix(name, "leaf:"):
					leaves[s][name] = append(leaves[s][name], x)
				case strings.HasPrefix(name, "grad:"):
					retained[s][name] = x
					all[name] = x
				case stage.Across(name) || strings.HasPrefix(name, "kept:"):
					given[name] = x
				default:
					all[fmt.Sprint(name, replicas)] = x
				}
			}
		}
		for s := range n {
			take(m.run(shares[s].Function(graph.Forward), shares[s].State, rows, given), s)
		}
		for s := n - 1; s >= 0; s-- {
			take(m.run(shares[s].Function(graph.Backward), shares[s].State, rows, given), s)
		}
	}
	for s := range n {
		in := map[string]tensor.Tensor{}
		for name, list := range leaves[s] {
			in[name] = joined(list)
		}
		for name, x := range m.run(shares[s].Function(graph.Reduce), shares[s].State, m.rows, in) {
			retained[s][name], all[name] = x, x
		}
	}
	given := map[string]tensor.Tensor{"lr": tensor.Scalar(float32(0.1))}
	for s := range n {
		for name, x := range retained[s] {
			given[name] = x
		}
	}
	for _, name := range []string{graph.Squares, graph.Factor, graph.Commit} {
		for s := range n {
			for name, x := range m.run(shares[s].Function(name), shares[s].State, m.rows, given) {
				if stage.Across(name) {
					given[name] = x
				} else {
					all[name] = x
				}
			}
		}
	}
	return all
}

func joined(list []tensor.Tensor) tensor.Tensor {
	shape := slices.Clone(list[0].Shape)
	shape[0] = 0
	var b []byte
	for _, x := range list {
		shape[0] += x.Shape[0]
		b = append(b, x.Bytes...)
	}
	out := tensor.New(list[0].DType, shape...)
	copy(out.Bytes, b)
	return out
}

// onOne runs the same step as stepped, with the functions of one device.
func (m *machine) onOne(p *graph.Program, in map[string]tensor.Tensor) map[string]tensor.Tensor {
	all := m.run(p.Function(graph.Train), p.State, m.rows, in)
	given := map[string]tensor.Tensor{"lr": tensor.Scalar(float32(0.1))}
	for name, x := range all {
		given[name] = x
	}
	for name, x := range m.run(p.Function(graph.Commit), p.State, m.rows, given) {
		all[name] = x
	}
	return all
}

func newMachine(t *testing.T, state map[string]tensor.Tensor) *machine {
	t.Helper()
	d, err := ref.Provider{}.Open(t.Context(), device.DefaultID, device.Options{Kernels: class.FMA})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return &machine{t: t, dev: d, state: state, rows: []int{2, 3, 1, 2}}
}

func programs(t *testing.T, g *graph.Graph, p *graph.Program, begin ...int) []*graph.Program {
	t.Helper()
	n, err := stage.New(g)
	if err != nil {
		t.Fatal(err)
	}
	d, err := n.Divide(begin)
	if err != nil {
		t.Fatal(err)
	}
	shares, err := d.Programs(p)
	if err != nil {
		t.Fatal(begin, err)
	}
	return shares
}

// TestCutsChangeNoBit: wherever a network is cut, in two or in three, prediction, losses, moments,
// gradients and updates have the bits of one device.
func TestCutsChangeNoBit(t *testing.T) {
	g := parse(t, residual)
	last := len(g.Main.Nodes)
	for _, mode := range []bn.Mode{bn.Replica, bn.Sync, bn.Frozen} {
		p, state := programOf(t, g, recipeOf(mode))
		m := newMachine(t, state)
		in := m.batch(p.Function(graph.Train))
		want := m.onOne(p, in)
		x := map[string]tensor.Tensor{"x": in["x"]}
		predicted := m.run(p.Function(graph.Predict), p.State, m.rows, x)
		for first := 1; first < last; first++ {
			if mode != bn.Replica && first%4 != 0 {
				continue // the mode does not change the nodes at this cut
			}
			begin := []int{first}
			if second := (first + last + 1) / 2; second < last && first%3 == 0 {
				begin = append(begin, second)
			}
			shares := programs(t, g, p, begin...)
			given := map[string]tensor.Tensor{"x": in["x"]}
			for _, share := range shares {
				for name, y := range m.run(share.Function(graph.Predict), share.State, m.rows, given) {
					given[name] = y
				}
			}
			same(t, fmt.Sprint(mode, begin, " predicts"), given, predicted)
			runs := [][]int{{0, 1, 2, 3}}
			if mode != bn.Sync {
				runs = [][]int{{0}, {1}, {2}, {3}}
			}
			got := m.stepped(shares, in, runs)
			for name := range want {
				if !strings.HasPrefix(name, "moments:") {
					continue
				}
				var list []tensor.Tensor
				for _, replicas := range runs {
					list = append(list, got[fmt.Sprint(name, replicas)])
				}
				got[name] = joined(list)
			}
			for _, name := range []string{"loss", "correct"} {
				if mode == bn.Sync {
					got[name] = got[fmt.Sprint(name, runs[0])]
				}
			}
			same(t, fmt.Sprint(mode, begin), got, want)
		}
	}
}

func same(t *testing.T, what string, got, want map[string]tensor.Tensor) {
	t.Helper()
	for name, x := range want {
		if y, ok := got[name]; !ok || !bytes.Equal(x.Bytes, y.Bytes) {
			t.Errorf("%s: %s is %v, want %v", what, name, y, x)
			return
		}
	}
}

// TestTheZooIsDivided checks that the networks of the zoo can be divided into four stages at
// requested layers, and that the stages together have the state of the program. It runs every fifth
// model of the zoo.
func TestTheZooIsDivided(t *testing.T) {
	for i, a := range models.Architectures() {
		if i%5 != 0 {
			continue
		}
		m, err := models.Build(a.Name, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := spmd.PredictProgram(m.Graph)
		if err != nil {
			t.Fatal(err)
		}
		n := len(m.Graph.Main.Nodes)
		shares := programs(t, m.Graph, p, n/4, n/2, 3*n/4)
		var names []string
		for _, share := range shares {
			for _, s := range share.State {
				names = append(names, s.Name)
			}
		}
		slices.Sort(names)
		if got := len(slices.Compact(names)); got != len(p.State) {
			t.Errorf("%s: the stages have %d tensors, want %d", a.Name, got, len(p.State))
		}
	}
}

// TestStageOfANormAloneIsRefused: a norm stays with its product, so a stage with only the norm
// would be empty.
func TestStageOfANormAloneIsRefused(t *testing.T) {
	n, err := stage.New(parse(t, residual))
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.Divide([]int{1, 2})
	if err == nil || !strings.Contains(err.Error(), "stage 2 has no layer: a norm") {
		t.Errorf("got %v", err)
	}
}

// TestSharedStateIsRefused checks that a weight that layers of two stages read is rejected
// by name if training changes it, and that each stage has a copy if the program only
// predicts.
func TestSharedStateIsRefused(t *testing.T) {
	g := parse(t, `bnctl graph 1
graph "shared"

state weight f32[4,4] weight he_normal(0)
state fc.weight f32[3,4] weight he_normal(0)

func main(x rows f32[4]) {
  one = dense(x, @weight)
  two = dense(one, @weight)
  fc = dense(two, @fc.weight)
  return logits rows = fc
}
`)
	r := recipeOf(bn.Frozen)
	r.AuxWeight = 0
	p, _ := programOf(t, g, r)
	n, err := stage.New(g)
	if err != nil {
		t.Fatal(err)
	}
	d, err := n.Divide([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Programs(p); err == nil || !strings.Contains(err.Error(), "stages 1 and 2 share weight,") {
		t.Errorf("got %v, want a sentence on what is shared", err)
	}
	predict, err := spmd.PredictProgram(g)
	if err != nil {
		t.Fatal(err)
	}
	if shares := programs(t, g, predict, 1); len(shares[0].State)+len(shares[1].State) != 3 {
		t.Errorf("state %v and %v, want the shared weight twice", shares[0].State, shares[1].State)
	}
	programs(t, g, p, 2)
}

// TestCutsAtBF16ChangeNoBit: a device of precision bf16 rounds the values that it stores, but not
// those that it fuses away. So nodes that may be fused stay together wherever a cut is requested.
func TestCutsAtBF16ChangeNoBit(t *testing.T) {
	resnet, err := models.Build("resnet20", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(resnet, 1); err != nil {
		t.Fatal(err)
	}
	p, err := spmd.PredictProgram(resnet.Graph)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, resnet.State)
	m.dev, err = cpu.Provider{}.Open(t.Context(), device.DefaultID, device.Options{Threads: 1,
		Precision: device.BF16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.dev.Close() })
	in, err := models.RandomInput(resnet, 8)
	if err != nil {
		t.Fatal(err)
	}
	name := p.Functions[0].Values[p.Functions[0].Inputs[0]].Name
	x := map[string]tensor.Tensor{name: in}
	want := m.run(p.Function(graph.Predict), p.State, m.rows, x)
	n, err := stage.New(resnet.Graph)
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range []string{"layer1.0.bn2", "layer1.0.add", "layer2.0.relu1", "layer3.2.relu2"} {
		d, err := n.DivideFor(stage.Spec{Layers: []string{layer}, BF16: true}, p, 8, []int64{0, 0})
		if err != nil {
			t.Fatal(layer, err)
		}
		shares, err := d.Programs(p)
		if err != nil {
			t.Fatal(layer, err)
		}
		given := map[string]tensor.Tensor{name: in}
		for _, share := range shares {
			for name, y := range m.run(share.Function(graph.Predict), share.State, m.rows, given) {
				given[name] = y
			}
		}
		same(t, layer, given, want)
	}
}
