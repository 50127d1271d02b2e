package serialize

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func TestStripIsTheInverseOfWrapping(t *testing.T) {
	m := tinyModel(t)
	for _, sync := range []bool{true, false} {
		g, removed, err := StripGraph(wrapTiny(t, m.Graph, sync))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(g, m.Graph) {
			t.Errorf("sync %v: stripped graph is\n%s\nwant\n%s", sync, g.Text(), m.Graph.Text())
		}
		if want := map[bool]int{true: 5, false: 6}[sync]; removed.Nodes() != want || removed.Replicas != 2 {
			t.Errorf("sync %v: removed %+v, want %d nodes of 2 replicas", sync, removed, want)
		}
	}
}

// StripGraph returns the graph of a template unchanged: frozen batch norms stay as they
// are.
func TestStripOfATemplate(t *testing.T) {
	m := tinyModel(t)
	g, removed, err := StripGraph(m.Graph)
	if err != nil || !reflect.DeepEqual(g, m.Graph) || removed.Nodes() != 0 {
		t.Errorf("graph\n%s\nremoved %+v, error %v", g.Text(), removed, err)
	}
}

func TestStripLeavesOutWhatOnlyTrainingNeeds(t *testing.T) {
	c := tinyCheckpoint(t)
	average := graph.State{Name: "bn1.bias.ema", DType: tensor.F32, Shape: []int{2}, Role: graph.Average}
	c.Training = append(c.Training, average)
	c.State[average.Name] = tensor.Of([]float32{1, 2}, 2)
	got, removed, err := Strip(c)
	if err != nil {
		t.Fatal(err)
	}
	want := tinyModel(t)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("template %+v, want %+v", got, want)
	}
	if len(removed.Optimizer) != 1 || len(removed.Averages) != 1 || len(removed.Sets) != 2 ||
		removed.Attachments != 2 {
		t.Errorf("removed %+v", removed)
	}
	if got, want := removed.Bytes, int64(8+8+8+8+8); got != want {
		t.Errorf("removed %d bytes, want %d", got, want)
	}
}

// StripGraph leaves out state that a graph declares and only training needs.
func TestStripGraphLeavesOutWhatOnlyTrainingNeeds(t *testing.T) {
	m := tinyModel(t)
	g := wrapTiny(t, m.Graph, true)
	for name, role := range map[string]graph.Role{"v": graph.Optimizer, "a": graph.Average} {
		g.State = append(g.State, graph.State{Name: name, DType: tensor.F32, Shape: []int{2}, Role: role})
	}
	got, removed, err := StripGraph(g)
	if err != nil || !reflect.DeepEqual(got, m.Graph) {
		t.Errorf("graph\n%s\nerror %v", got.Text(), err)
	}
	if len(removed.Optimizer) != 1 || len(removed.Averages) != 1 || removed.Bytes != 16 {
		t.Errorf("removed %+v", removed)
	}
}

// Strip of a damaged checkpoint returns an error and no template.
func TestStripOfWhatIsNone(t *testing.T) {
	for want, damage := range map[string]func(*Checkpoint){
		"no batch norm can be made": func(c *Checkpoint) {
			main := *c.Graph.Main
			main.Nodes = slices.DeleteFunc(slices.Clone(main.Nodes),
				func(n graph.Node) bool { return n.Op == graph.Track })
			c.Graph = &graph.Graph{Name: c.Graph.Name, State: c.Graph.State, Main: &main}
		},
		"bn1.running_mean": func(c *Checkpoint) { delete(c.State, "bn1.running_mean") },
	} {
		c := tinyCheckpoint(t)
		damage(c)
		if m, _, err := Strip(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want one with %q", m, err, want)
		}
	}
}

func TestStripRefuses(t *testing.T) {
	type operands struct{ x, moments, gamma, beta, mean, variance graph.Value }
	cases := []struct {
		name, want string
		build      func(*graph.Builder, operands) graph.Value
	}{
		{"no track", "no batch norm can be made", func(b *graph.Builder, o operands) graph.Value {
			return b.Op(graph.Normalise, "bn", []graph.Value{o.x, o.moments, o.gamma, o.beta}, "over", "replica")
		}},
		{"moments of another value", "no batch norm can be made", func(b *graph.Builder, o operands) graph.Value {
			y := b.Op(graph.Relu, "relu", []graph.Value{o.x})
			return b.Op(graph.Normalise, "bn", []graph.Value{y, o.moments, o.gamma, o.beta}, "over", "replica")
		}},
		{"moments of another value, with a track", "no batch norm can be made",
			func(b *graph.Builder, o operands) graph.Value {
				b.Node(graph.Track, "t", nil, o.moments, o.mean, o.variance)
				y := b.Op(graph.Relu, "relu", []graph.Value{o.x})
				return b.Op(graph.Normalise, "bn", []graph.Value{y, o.moments, o.gamma, o.beta}, "over", "replica")
			}},
		{"moments from outside", "no batch norm can be made", func(b *graph.Builder, o operands) graph.Value {
			m := b.Input("elsewhere", graph.Type{Kind: graph.Replica, DType: tensor.F64, Shape: []int{5}})
			return b.Op(graph.Normalise, "bn", []graph.Value{o.x, m, o.gamma, o.beta}, "over", "replica")
		}},
		{"track alone", "normalise nothing", func(b *graph.Builder, o operands) graph.Value {
			b.Node(graph.Track, "t", nil, o.moments, o.mean, o.variance)
			return o.x
		}},
		{"reduced value", "sum is used, but was left out", func(b *graph.Builder, o operands) graph.Value {
			sum := b.Op(graph.AllReduce, "sum", []graph.Value{b.Op(graph.ChannelSum, "s", []graph.Value{o.x})})
			return b.Op(graph.Prelu, "prelu", []graph.Value{o.x, sum})
		}},
	}
	for _, c := range cases {
		g := &graph.Graph{Name: "g"}
		b := graph.NewBuilder("main", &g.State)
		read := func(name string, r graph.Role) graph.Value {
			return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: []int{2}, Role: r})
		}
		x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2, 3, 1}})
		o := operands{x, b.Op(graph.Moments, "m", []graph.Value{x}), read("g", graph.Gamma), read("b", graph.Beta),
			read("mean", graph.Mean), read("v", graph.Variance)}
		b.Output("y", c.build(b, o), false)
		var err error
		if g.Main, err = b.Function(); err != nil {
			t.Fatal(err)
		}
		if _, _, err = StripGraph(g); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
