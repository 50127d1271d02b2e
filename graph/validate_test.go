package graph

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

const f32 = tensor.F32

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(p *Program, train, commit *Function)
	}{
		{"valid", "", func(*Program, *Function, *Function) {}},
		{"operand", "node y (dense): operand 0 is value 99",
			func(p *Program, f, _ *Function) { f.Nodes[0].In[0] = 99 }},
		{"operand below", "operand 0 is value -7", func(p *Program, f, _ *Function) { f.Nodes[0].In[0] = -7 }},
		{"order", "node y (dense): operand 0 is value 8",
			func(p *Program, f, _ *Function) { f.Nodes[0].In[0] = 8 }},
		{"absent", "last operand is absent",
			func(p *Program, f, _ *Function) { f.Nodes[0].In = append(f.Nodes[0].In, None) }},
		{"missing", "operand 0 is absent but not optional",
			func(p *Program, f, _ *Function) { f.Nodes[0].In[0] = None }},
		{"result", "result 0 is value 1000", func(p *Program, f, _ *Function) { f.Nodes[0].Out[0] = 1000 }},
		{"results", "want a new one", func(p *Program, f, _ *Function) { f.Nodes[1].Out[0] = f.Nodes[0].Out[0] }},
		{"few results", "has 0 results, want 1", func(p *Program, f, _ *Function) { f.Nodes[4].Out = nil }},
		{"unknown", "operation 9999 is unknown", func(p *Program, f, _ *Function) { f.Nodes[0].Op = 9999 }},
		{"attribute", `has no attribute "x"`,
			func(p *Program, f, _ *Function) { f.Nodes[0].Attrs = Attrs{{"x", int64(1)}} }},
		{"attribute type", "attribute ignore is {}, want an integer", func(p *Program, f, _ *Function) {
			f.Nodes[1].Attrs = Attrs{{"ignore", struct{}{}}}
		}},
		{"type", "result y is rows f32[4], want rows f32[3]", func(p *Program, f, _ *Function) {
			f.Values[f.Nodes[0].Out[0]].Type.Shape = []int{4}
		}},
		{"name", "two values are called", func(p *Program, f, _ *Function) { f.Values[0].Name = f.Values[1].Name }},
		{"bad name", "may not stand there", func(p *Program, f, _ *Function) { f.Values[0].Name = "a b" }},
		{"read", "not declared", func(p *Program, f, _ *Function) { f.Values[2].State = "nothing" }},
		{"read type", "want @b to be whole f32[3]",
			func(p *Program, f, _ *Function) { f.Values[2].Type.Kind = Rows }},
		{"input", "input 0 is value -1", func(p *Program, f, _ *Function) { f.Inputs[0] = -1 }},
		{"no input", "comes from nowhere",
			func(p *Program, f, _ *Function) { f.Inputs = f.Inputs[:len(f.Inputs)-1]; f.Nodes = nil }},
		{"input kind", "unknown kind 9", func(p *Program, f, _ *Function) { f.Values[0].Type.Kind = 9 }},
		{"output", "output loss is declared twice or is value -1",
			func(p *Program, f, _ *Function) { f.Outputs[0].Value = -1 }},
		{"outputs", "declared twice", func(p *Program, f, _ *Function) { f.Outputs[0].Name = f.Outputs[1].Name }},
		{"update", "update of x: the state is not declared",
			func(p *Program, _, f *Function) { f.Updates[0].State = "x" }},
		{"update type", "value lr is whole f32[], want whole f32[3,2]",
			func(p *Program, _, f *Function) { f.Updates[0].Value = 1 }},
		{"updates", "state v is updated twice", func(p *Program, _, f *Function) { f.Updates[0].State = "v" }},
		{"statistic", "never updates state of role mean",
			func(p *Program, _, f *Function) { p.State[0].Role = Mean }},
		{"functions", "there are two of that name", func(p *Program, _, f *Function) {
			f.Name, f.Updates = Predict,
				nil
		}},
		{"update in train", "only commit updates state", func(p *Program, f, _ *Function) {
			f.Updates = []Update{{"b", 2}}
		}},
		{"keep", "only train keeps outputs",
			func(p *Program, _, f *Function) { f.Outputs = []Output{{"lr", 1, true}} }},
		{"keep rows", "an all_reduce is missing", func(p *Program, f, _ *Function) { f.Outputs[0].Keep = true }},
		{"commit", "neither does train keep it nor is it a whole scalar", func(p *Program, f, _ *Function) {
			f.Outputs[2].Name = "dx"
		}},
		{"state", "unknown tensor type", func(p *Program, f, _ *Function) { p.State[0].DType = 77 }},
	} {
		p, err := ParseProgram(read(t, "step.program"))
		if err != nil {
			t.Fatal(err)
		}
		c.spoil(p, p.Function(Train), p.Function(Commit))
		err = p.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestCheckHost(t *testing.T) {
	var table []State
	b := NewBuilder(Predict, &table)
	x := b.Op(Split, "split", []Value{b.Input("x", Type{Rows, f32, []int{2}})}, "replicas", 2)
	b.Output("y", x, false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Graph{"g", table, f}).Check(); err != nil {
		t.Error(err)
	}
	err = (&Program{"p", table, []*Function{f}}).Check()
	if err == nil || !strings.Contains(err.Error(), "node split (split): the host does that") {
		t.Errorf("got %v", err)
	}
}
