package graph

import "fmt"

// rewriter builds a function from another one, node by node.
type rewriter struct {
	Copier
	node *Node           // the node of From that is being rewritten
	old  map[string]bool // the names in From
}

// rewrite returns a copy of f in which calls of visit have replaced each node by others. Its state is
// declared in table. Values that are no longer used, except inputs, are removed; names are
// kept.
func (f *Function) rewrite(table *[]State, visit func(r *rewriter)) (*Function, error) {
	r := &rewriter{Copier: NewCopier(f, NewBuilder(f.Name, table)), old: map[string]bool{}}
	for _, v := range f.Values {
		r.old[v.Name] = true
	}
	r.Inputs()
	for i := range f.Nodes {
		r.node = &f.Nodes[i]
		visit(r)
	}
	r.Outputs()
	for _, u := range f.Updates {
		r.Builder.Update(u.State, r.Value(u.Value))
	}
	return r.Builder.Function()
}

// in returns the new value of operand i.
func (r *rewriter) in(i int) Value {
	if i >= len(r.node.In) {
		return None
	}
	return r.Value(r.node.In[i])
}

// name returns the name of the node's result.
func (r *rewriter) name() string { return r.From.Values[r.node.Out[0]].Name }

// free returns name, or a name like it, that is free in the old function and the new one.
func (r *rewriter) free(name string) string {
	for r.old[r.Builder.UniqueName(name)] {
		name += "_"
	}
	return r.Builder.UniqueName(name)
}

// op adds a node before the node that replaces the rewritten one.
func (r *rewriter) op(op Op, suffix string, operands []Value, pairs ...any) Value {
	return r.Builder.Op(op, r.free(r.name()+"."+suffix), operands, pairs...)
}

// last adds the node that replaces the rewritten one and has its name.
func (r *rewriter) last(op Op, operands []Value, pairs ...any) {
	r.done(r.Builder.Op(op, r.name(), operands, pairs...))
}

// done replaces the result of the rewritten node by v.
func (r *rewriter) done(v Value) { r.To[r.node.Out[0]] = v }

// Prune returns f without the nodes and reads of state that no output and no
// update depends on. Inputs stay. state is the table of f.
func Prune(f *Function, state []State) (*Function, error) {
	live, i := f.live(), 0
	return f.rewrite(&state, func(r *rewriter) {
		if live[i] {
			r.Copy(r.node)
		}
		i++
	})
}

// Eval returns f in eval mode: without dropout, and pruned. state is the table of
// f.
func Eval(f *Function, state []State) (*Function, error) {
	g, err := f.rewrite(&state, func(r *rewriter) {
		if r.node.Op == Dropout {
			r.done(r.in(0))
			return
		}
		r.Copy(r.node)
	})
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return Prune(g, state)
}
