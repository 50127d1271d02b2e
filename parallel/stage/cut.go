package stage

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// cut is a function that is being divided among stages, node by node.
type cut struct {
	*work
	fn    *graph.Function
	stage []int // stage of each node
	maker []int // maker of each value: the number of its node, or -1
}

func (w *work) newCut(f *graph.Function) *cut {
	c := &cut{work: w, fn: f, stage: make([]int, len(f.Nodes)), maker: slices.Repeat([]int{-1}, len(f.Values))}
	for i := range f.Nodes {
		for _, v := range f.Nodes[i].Out {
			c.maker[v] = i
		}
	}
	return c
}

// forward assigns the nodes of a forward pass to stages.
func (c *cut) forward() {
	for i := range c.fn.Nodes {
		c.stage[i] = c.stageOfNode(i)
	}
}

// stageOfNode returns the stage of node i by its name. If the name does not determine a
// stage, it is the last of the stages that the node reads from.
func (c *cut) stageOfNode(i int) int {
	n := &c.fn.Nodes[i]
	if s, ok := c.stageByName(c.fn.NodeName(n)); ok {
		return s
	}
	last := 0
	for _, v := range n.In {
		if s, ok := c.stageOf(v); ok {
			last = max(last, s)
		}
	}
	return last
}

// stageOf returns the stage that makes v or has the state that v reads. Inputs have no
// stage.
func (c *cut) stageOf(v graph.Value) (int, bool) {
	if v == graph.None {
		return 0, false
	}
	if name := c.fn.Values[v].State; name != "" {
		s, ok := c.home[name]
		return s, ok
	}
	if i := c.maker[v]; i >= 0 {
		return c.stage[i], true
	}
	return 0, false
}

// functions makes a function with this name for each stage that has some of the nodes selected by meant.
func (c *cut) functions(name string, meant func(node int) bool) error {
	sections := c.sections(name, meant)
	for s, section := range sections {
		f, err := section.function()
		if err != nil {
			return err
		}
		if len(f.Outputs)+len(f.Updates) > 0 {
			c.divided[s].Functions = append(c.divided[s].Functions, f)
		}
	}
	return nil
}

// sections returns the part that each stage computes of the nodes selected by meant, with
// the values that pass between stages and the outputs of the function.
func (c *cut) sections(name string, meant func(node int) bool) []*section {
	sections := make([]*section, c.stages)
	for s := range sections {
		sections[s] = newSection(c, name, s)
	}
	for i := range c.fn.Nodes {
		if meant(i) {
			p := sections[c.stage[i]]
			p.nodes = append(p.nodes, i)
		}
	}
	for s, p := range sections {
		for _, v := range p.reads() {
			from, ok := c.made(v, meant)
			if !ok || from == s {
				continue
			}
			if c.byState(c.maker[v]) {
				p.again(c.maker[v])
			} else {
				p.takes(v, named(acrossPrefix, c.fn, v))
				sections[from].gives(named(acrossPrefix, c.fn, v), v, false)
			}
		}
	}
	for _, o := range c.fn.Outputs {
		from, ok := c.made(o.Value, meant)
		if ok || c.maker[o.Value] < 0 && c.fn.Name == name {
			sections[from].gives(o.Name, o.Value, o.Keep)
		}
	}
	return sections
}

// byState reports whether node i depends only on state. Every stage that needs its result
// computes it.
func (c *cut) byState(i int) bool {
	for _, v := range c.fn.Nodes[i].In {
		if v != graph.None && c.fn.Values[v].State == "" && (c.maker[v] < 0 || !c.byState(c.maker[v])) {
			return false
		}
	}
	return c.fn.Nodes[i].Op != graph.AllReduce
}

// made returns the stage of the node that makes v, if meant selects that node.
func (c *cut) made(v graph.Value, meant func(node int) bool) (int, bool) {
	if i := c.maker[v]; i >= 0 && meant(i) {
		return c.stage[i], true
	}
	return 0, false
}

// section is the part of a function that one stage computes.
type section struct {
	cut     *cut
	name    string
	stage   int
	nodes   []int
	inputs  map[graph.Value]string // values that are made elsewhere and are not inputs of the function
	order   []graph.Value          // these values in order
	outputs []graph.Output
	updates []graph.Update
}

func newSection(c *cut, name string, stage int) *section {
	return &section{cut: c, name: name, stage: stage, inputs: map[graph.Value]string{}}
}

// reads returns the values that the nodes read and do not make, in order.
func (p *section) reads() []graph.Value {
	var list []graph.Value
	made := map[graph.Value]bool{graph.None: true}
	for _, i := range p.nodes {
		n := &p.cut.fn.Nodes[i]
		for _, v := range n.In {
			if !made[v] {
				made[v], list = true, append(list, v)
			}
		}
		for _, v := range n.Out {
			made[v] = true
		}
	}
	slices.Sort(list)
	return list
}

// takes makes v an input with this name.
func (p *section) takes(v graph.Value, name string) {
	if _, ok := p.inputs[v]; !ok {
		p.inputs[v], p.order = name, append(p.order, v)
	}
}

// gives makes v an output with this name, unless one exists.
func (p *section) gives(name string, v graph.Value, keep bool) {
	if !slices.ContainsFunc(p.outputs, func(o graph.Output) bool { return o.Name == name }) {
		p.outputs = append(p.outputs, graph.Output{Name: name, Value: v, Keep: keep})
	}
}

// has reports whether v is an input of the section that comes from another section.
func (p *section) has(v graph.Value) bool {
	_, ok := p.inputs[v]
	return ok
}

// function builds the function: the inputs of the whole function that it reads come first,
// then the values that are made elsewhere.
func (p *section) function() (*graph.Function, error) {
	fn, table := p.cut.fn, slices.Clone(p.cut.program.State)
	b := graph.NewBuilder(p.name, &table)
	c := graph.NewCopier(fn, b)
	read := map[graph.Value]bool{}
	for _, v := range p.reads() {
		read[v] = true
	}
	for _, o := range p.outputs {
		read[o.Value] = true
	}
	for _, v := range fn.Inputs {
		if read[v] && !p.has(v) {
			c.To[v] = b.Input(fn.Values[v].Name, fn.Values[v].Type)
		}
	}
	for _, v := range p.order {
		c.To[v] = b.Input(p.inputs[v], fn.Values[v].Type)
	}
	for _, i := range p.nodes {
		c.Copy(&fn.Nodes[i])
	}
	for _, o := range p.outputs {
		b.Output(o.Name, c.Value(o.Value), o.Keep)
	}
	for _, u := range p.updates {
		b.Update(u.State, c.Value(u.Value))
	}
	f, err := b.Function()
	if err != nil {
		return nil, fmt.Errorf("stage %d: %w", p.stage+1, err)
	}
	return f, nil
}

// again makes p compute node i, which reads only state, although another stage or function
// computes it too.
func (p *section) again(i int) {
	if slices.Contains(p.nodes, i) {
		return
	}
	for _, v := range p.cut.fn.Nodes[i].In {
		if v != graph.None && p.cut.maker[v] >= 0 {
			p.again(p.cut.maker[v])
		}
	}
	p.nodes = append(p.nodes, i)
	slices.Sort(p.nodes)
}
