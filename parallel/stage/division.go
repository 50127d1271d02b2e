package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// Division assigns the layers of a network to stages. It divides programs that were made
// from the template.
type Division struct {
	stages  int
	network *Network
	node    []int // stage of each node of the template
}

// Joined returns the division d with a stage and the next one merged.
func (d *Division) Joined(stage int) *Division {
	joined := &Division{stages: d.stages - 1, network: d.network, node: slices.Clone(d.node)}
	for i, s := range d.node {
		if s > stage {
			joined.node[i] = s - 1
		}
	}
	return joined
}

// Stages returns the number of stages.
func (d *Division) Stages() int { return d.stages }

// Layers returns the names of the nodes of a stage.
func (d *Division) Layers(stage int) []string {
	var names []string
	for i, name := range d.network.Layers() {
		if d.node[i] == stage {
			names = append(names, name)
		}
	}
	return names
}

// Programs divides p, a program that was made from the template: a program that predicts or one
// that trains. Each stage has the functions and the state that it needs. If two stages would read
// state that p changes, the error is a *problem.Error that names this state.
func (d *Division) Programs(p *graph.Program) ([]*graph.Program, error) {
	w := &work{Division: d, program: p, home: map[string]int{}}
	for s := range d.stages {
		w.divided = append(w.divided, &graph.Program{Name: fmt.Sprintf("%s.%d", p.Name, s+1)})
	}
	w.locate()
	for _, f := range p.InOrder() {
		if err := w.divide(f); err != nil {
			return nil, fmt.Errorf("stages of %s: %w", p.Name, err)
		}
	}
	for s, section := range w.divided {
		section.State = w.state(s)
		if err := section.Check(); err != nil {
			return nil, err
		}
	}
	return w.divided, w.checkShared()
}

// work is a program that is being divided.
type work struct {
	*Division
	program *graph.Program
	home    map[string]int // stage of each state tensor, by name
	divided []*graph.Program
}

// divide divides a function.
func (w *work) divide(f *graph.Function) error {
	switch f.Name {
	case graph.Train:
		return w.training(f)
	case graph.Commit:
		return w.commit(f)
	}
	c := w.newCut(f)
	c.forward()
	return c.functions(f.Name, func(int) bool { return true })
}

// locate assigns each state tensor to a stage, by the nodes that read it.
func (w *work) locate() {
	for _, f := range w.program.InOrder() {
		if f.Name == graph.Commit {
			w.locateUpdates(f)
			continue
		}
		for i := range f.Nodes {
			n := &f.Nodes[i]
			stage, ok := w.stageByName(f.NodeName(n))
			for _, v := range n.In {
				if v == graph.None || f.Values[v].State == "" || !ok {
					continue
				}
				if _, ok := w.home[f.Values[v].State]; !ok {
					w.home[f.Values[v].State] = stage
				}
			}
		}
	}
}

// checkShared rejects state that two stages would have to change in the same way.
func (w *work) checkShared() error {
	readers := map[string]int{}
	for s, p := range w.divided {
		for _, st := range p.State {
			other, ok := readers[st.Name]
			if ok && w.changes(st.Name) {
				return problem.New("stages", "", fmt.Sprintf("layers of stages %d and %d share %s, which "+
					"training changes", other+1, s+1, st.Name),
					"begin a stage before the first or behind the last of the layers that share it")
			}
			readers[st.Name] = s
		}
	}
	return nil
}

// locateUpdates assigns state that only a commit reads to the stage of the state with which
// it is updated: the velocity of a weight is in the stage of the weight.
func (w *work) locateUpdates(f *graph.Function) {
	of := map[graph.Value]int{} // stage of each result, by value
	for i := range f.Nodes {
		n := &f.Nodes[i]
		stage, homeless := -1, []string{}
		for _, v := range n.In {
			if v == graph.None {
				continue
			}
			s, ok := of[v]
			if name := f.Values[v].State; name != "" {
				if s, ok = w.home[name]; !ok {
					homeless = append(homeless, name)
				}
			}
			if ok && stage < 0 {
				stage = s
			}
		}
		if stage < 0 {
			continue
		}
		for _, name := range homeless {
			w.home[name] = stage
		}
		for _, v := range n.Out {
			of[v] = stage
		}
	}
}

// changes reports whether state of that name is ever written after the start.
func (w *work) changes(name string) bool {
	if w.program.Function(graph.Commit) == nil {
		return false
	}
	i := slices.IndexFunc(w.program.State, func(s graph.State) bool { return s.Name == name })
	return w.program.State[i].Role != graph.Constant
}

// state returns the state of a stage, in the order of the program.
func (w *work) state(stage int) (list []graph.State) {
	read := map[string]bool{}
	for _, f := range w.divided[stage].Functions {
		for _, v := range f.Values {
			read[v.State] = true
		}
		for _, u := range f.Updates {
			read[u.State] = true
		}
	}
	for _, s := range w.program.State {
		if read[s.Name] {
			list = append(list, s)
		}
	}
	return list
}

// stageByName returns the stage of the template's node from which a node with this name was
// made.
func (d *Division) stageByName(name string) (int, bool) {
	i, ok := d.network.origin(name)
	if !ok {
		return 0, false
	}
	return d.node[i], true
}

// origin returns the template's node from which a node with this name was made: it has the
// same name, or the name without suffixes.
func (n *Network) origin(name string) (int, bool) {
	for {
		if i, ok := n.numbers[name]; ok {
			return i, true
		}
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			return 0, false
		}
		name = name[:i]
	}
}
