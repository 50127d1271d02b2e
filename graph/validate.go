package graph

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Check returns nil if f is a valid function over the table state: every value is an input,
// a read of state or the result of one node, has a unique name and the inferred type;
// operands come before results; outputs and updates refer to existing values and state.
// Otherwise the error names the node. Functions of a Builder are valid; check one from
// elsewhere before you use it.
func (f *Function) Check(state []State) error {
	if err := f.check(stateTypes(state)); err != nil {
		return fmt.Errorf("function %s: %w", f.Name, err)
	}
	return nil
}

func stateTypes(state []State) map[string]State {
	m := make(map[string]State, len(state))
	for _, s := range state {
		m[s.Name] = s
	}
	return m
}

func (f *Function) check(state map[string]State) error {
	if err := cmp.Or(checkName(f.Name), f.checkSize()); err != nil {
		return err
	}
	defined := make([]bool, len(f.Values)) // values that are not results of nodes
	if err := cmp.Or(f.checkValues(state, defined), f.checkInputs(defined)); err != nil {
		return err
	}
	if err := f.checkNodes(defined); err != nil {
		return err
	}
	if i := slices.Index(defined, false); i >= 0 {
		return fmt.Errorf("value %s comes from nowhere", f.Values[i].Name)
	}
	return f.checkResults(state)
}

func (f *Function) checkSize() error {
	if len(f.Nodes) > maxNodes || len(f.Values) > maxValues {
		return fmt.Errorf("%d nodes and %d values, want at most %d and %d",
			len(f.Nodes), len(f.Values), maxNodes, maxValues)
	}
	return nil
}

// checkValues checks names, and the values that read state.
func (f *Function) checkValues(state map[string]State, defined []bool) error {
	names := make(map[string]bool, len(f.Values))
	for i := range f.Values {
		v := &f.Values[i]
		if names[v.Name] {
			return fmt.Errorf("two values are called %q", v.Name)
		}
		names[v.Name] = true
		if v.State == "" {
			if err := checkName(v.Name); err != nil {
				return err
			}
			continue
		}
		defined[i] = true
		s, ok := state[v.State]
		if !ok {
			return fmt.Errorf("value %s reads state %s, which is not declared", v.Name, v.State)
		}
		if want := (Type{Whole, s.DType, s.Shape}); v.Name != "@"+v.State || !equalType(v.Type, want) {
			return fmt.Errorf("value %s is %v, want @%s to be %v", v.Name, v.Type, v.State, want)
		}
	}
	return nil
}

func equalType(a, b Type) bool {
	return a.Kind == b.Kind && a.DType == b.DType && slices.Equal(a.Shape, b.Shape)
}

func (f *Function) checkInputs(defined []bool) error {
	for i, v := range f.Inputs {
		if v < 0 || int(v) >= len(f.Values) {
			return fmt.Errorf("input %d is value %d of %d", i, v, len(f.Values))
		}
		if defined[v] || i > 0 && v <= f.Inputs[i-1] {
			return fmt.Errorf("input %s: the value is state or out of order", f.Values[v].Name)
		}
		if err := checkType(f.Values[v].Type); err != nil {
			return fmt.Errorf("input %s: %w", f.Values[v].Name, err)
		}
		defined[v] = true
	}
	return nil
}

func (f *Function) checkNodes(defined []bool) error {
	last := None
	for i := range f.Nodes {
		n := &f.Nodes[i]
		err := f.checkWiring(n, last, defined)
		if err == nil {
			err = f.checkNode(n)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.title(i), err)
		}
		for _, v := range n.Out {
			defined[v], last = true, v
		}
	}
	return nil
}

// title returns the name of node i in messages. The name need not be valid.
func (f *Function) title(i int) string {
	n := &f.Nodes[i]
	if len(n.Out) > 0 && n.Out[0] >= 0 && int(n.Out[0]) < len(f.Values) {
		return title(n.Op, []string{f.Values[n.Out[0]].Name})
	}
	return fmt.Sprintf("node %d (%v)", i, n.Op)
}

// checkWiring checks that n's operands are defined and that its results are new values,
// numbered after the operands and after last, the last result so far.
func (f *Function) checkWiring(n *Node, last Value, defined []bool) error {
	highest := last
	for i, v := range n.In {
		if v == None {
			continue
		}
		if v < 0 || int(v) >= len(f.Values) || !defined[v] {
			return fmt.Errorf("operand %d is value %d, which is not computed before", i, v)
		}
		highest = max(highest, v)
	}
	for i, v := range n.Out {
		if v <= highest || int(v) >= len(f.Values) || defined[v] || v != n.Out[0]+Value(i) {
			return fmt.Errorf("result %d is value %d of %d, want a new one above %d, one after the other",
				i, v, len(f.Values), highest)
		}
	}
	if len(n.In) > 0 && n.In[len(n.In)-1] == None {
		return errors.New("the last operand is absent but written down")
	}
	return nil
}

// checkNode compares the declared types of results with the inferred ones.
func (f *Function) checkNode(n *Node) error {
	types, err := check(f, n)
	if err != nil {
		return err
	}
	if len(types) != len(n.Out) {
		return fmt.Errorf("has %d results, want %d", len(n.Out), len(types))
	}
	for i, t := range types {
		if v := &f.Values[n.Out[i]]; !equalType(v.Type, t) || v.State != "" {
			return fmt.Errorf("result %s is %v, want %v", v.Name, v.Type, t)
		}
	}
	return nil
}

// checkResults checks outputs and updates of a function after its nodes.
func (f *Function) checkResults(state map[string]State) error {
	names := make(map[string]bool, len(f.Outputs)+len(f.Updates))
	for _, o := range f.Outputs {
		if err := checkName(o.Name); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if names[o.Name] || o.Value < 0 || int(o.Value) >= len(f.Values) {
			return fmt.Errorf("output %s is declared twice or is value %d of %d", o.Name, o.Value, len(f.Values))
		}
		names[o.Name] = true
	}
	for _, u := range f.Updates {
		if err := f.checkUpdate(u, state); err != nil {
			return fmt.Errorf("update of %s: %w", u.State, err)
		}
		if names["@"+u.State] {
			return fmt.Errorf("state %s is updated twice", u.State)
		}
		names["@"+u.State] = true
	}
	return nil
}

func (f *Function) checkUpdate(u Update, state map[string]State) error {
	s, ok := state[u.State]
	switch {
	case !ok:
		return errors.New("the state is not declared")
	case u.Value < 0 || int(u.Value) >= len(f.Values):
		return fmt.Errorf("value %d of %d", u.Value, len(f.Values))
	case s.Role.Statistic() || s.Role == Constant:
		return fmt.Errorf("a device never updates state of role %s", s.Role)
	}
	v := &f.Values[u.Value]
	if want := (Type{Whole, s.DType, s.Shape}); !equalType(v.Type, want) {
		return fmt.Errorf("value %s is %v, want %v", v.Name, v.Type, want)
	}
	return nil
}
