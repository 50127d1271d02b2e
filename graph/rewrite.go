package graph

import "fmt"

// rewriter builds a function from another one, node by node.
type rewriter struct {
	from *Function
	b    *Builder
	to   []Value         // by value of from: its value in the new function
	node *Node           // the node of from that is being rewritten
	old  map[string]bool // the names in from
}

// rewrite returns a copy of f, whose state is declared in table, with the
// nodes that visit makes of each node. Values that nothing mentions any more,
// except inputs, are left out; names are kept.
func (f *Function) rewrite(table *[]State, visit func(r *rewriter)) (*Function, error) {
	r := &rewriter{from: f, b: NewBuilder(f.Name, table), to: make([]Value, len(f.Values)), old: map[string]bool{}}
	for i := range r.to {
		r.to[i], r.old[f.Values[i].Name] = None, true
	}
	for _, v := range f.Inputs {
		r.to[v] = r.b.Input(f.Values[v].Name, f.Values[v].Type)
	}
	for i := range f.Nodes {
		r.node = &f.Nodes[i]
		visit(r)
	}
	for _, o := range f.Outputs {
		r.b.Output(o.Name, r.value(o.Value), o.Keep)
	}
	for _, u := range f.Updates {
		r.b.Update(u.State, r.value(u.Value))
	}
	return r.b.Function()
}

// value returns what has become of v, a value of the old function.
func (r *rewriter) value(v Value) Value {
	if v == None {
		return None
	}
	if s := r.from.Values[v].State; s != "" {
		return r.b.Read(s)
	}
	return r.to[v]
}

// in returns what has become of operand i.
func (r *rewriter) in(i int) Value {
	if i >= len(r.node.In) {
		return None
	}
	return r.value(r.node.In[i])
}

// keep copies the node.
func (r *rewriter) keep() {
	var in []Value
	for i := range r.node.In {
		in = append(in, r.in(i))
	}
	var names []string
	for _, v := range r.node.Out {
		names = append(names, r.from.Values[v].Name)
	}
	for i, v := range r.b.named(r.node.Op, names, r.node.Attrs, in...) {
		r.to[r.node.Out[i]] = v
	}
}

// name returns the name of the node's result.
func (r *rewriter) name() string { return r.from.Values[r.node.Out[0]].Name }

// free returns name, or a name like it, that is free in the old function and the new one.
func (r *rewriter) free(name string) string {
	for r.old[r.b.Free(name)] {
		name += "_"
	}
	return r.b.Free(name)
}

// op adds a node on the way to the result of the one that is rewritten.
func (r *rewriter) op(op Op, suffix string, in []Value, pairs ...any) Value {
	return r.b.Op(op, r.free(r.name()+"."+suffix), in, pairs...)
}

// last adds the node that takes the place and the name of the one that is rewritten.
func (r *rewriter) last(op Op, in []Value, pairs ...any) {
	r.done(r.b.Op(op, r.name(), in, pairs...))
}

// done makes v take the place of the result of the node that is rewritten.
func (r *rewriter) done(v Value) { r.to[r.node.Out[0]] = v }

// Prune returns f without the nodes and reads of state that nothing needs.
// Inputs stay. state is the table of f.
func Prune(f *Function, state []State) (*Function, error) {
	live, i := f.live(), 0
	return f.rewrite(&state, func(r *rewriter) {
		if live[i] {
			r.keep()
		}
		i++
	})
}

// Eval returns f as it is after training: without dropout, and without the
// nodes that nothing needs any more. state is the table of f.
func Eval(f *Function, state []State) (*Function, error) {
	g, err := f.rewrite(&state, func(r *rewriter) {
		if r.node.Op == Dropout {
			r.done(r.in(0))
			return
		}
		r.keep()
	})
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return Prune(g, state)
}
