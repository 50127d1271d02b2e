package graph

import (
	"cmp"
	"fmt"
)

// Check returns nil if g is valid: its state and its function are valid, and
// the function has neither updates nor kept outputs, which only programs have.
func (g *Graph) Check() error {
	if g.Main == nil {
		return fmt.Errorf("graph %s has no function", g.Name)
	}
	err := cmp.Or(checkTitle(g.Name), checkStates(g.State), g.checkForm())
	if err == nil {
		err = g.Main.Check(g.State)
	}
	if err != nil {
		return fmt.Errorf("graph %s: %w", g.Name, err)
	}
	return nil
}

func checkTitle(s string) error {
	if len(s) > maxName {
		return fmt.Errorf("the name has %d bytes, want at most %d", len(s), maxName)
	}
	return nil
}

func (g *Graph) checkForm() error {
	if n := len(g.Main.Updates); n > 0 {
		return fmt.Errorf("%d updates of state; only programs have them", n)
	}
	for _, o := range g.Main.Outputs {
		if o.Keep {
			return fmt.Errorf("output %s is kept; only programs keep outputs", o.Name)
		}
	}
	return nil
}

// Check returns nil if p is valid and a device can load it:
//  1. state and functions are valid, and no node is one of the host (Op.Host);
//  2. only Train keeps outputs, which are whole; if layers are divided over devices, Forward, Backward and
//     Reduce keep outputs instead;
//  3. only Commit updates state, and its inputs are outputs that Train keeps,
//     of the same name and type, or hyper-parameters: whole scalars;
//  4. inputs of Backward, Reduce and Squares that have the name of an output that
//     is kept for them have its type. Reduce and Squares have no others.
func (p *Program) Check() error {
	err := cmp.Or(checkTitle(p.Name), checkStates(p.State))
	if err == nil {
		err = p.checkFunctions()
	}
	if err == nil {
		err = p.checkForm()
	}
	if err != nil {
		return fmt.Errorf("program %s: %w", p.Name, err)
	}
	return nil
}

func (p *Program) checkFunctions() error {
	if len(p.Functions) > maxFunctions {
		return fmt.Errorf("%d functions, want at most %d", len(p.Functions), maxFunctions)
	}
	for _, f := range p.Functions {
		if err := f.Check(p.State); err != nil {
			return err
		}
	}
	return nil
}

// checkForm checks the rules about several functions, which are each valid.
func (p *Program) checkForm() error {
	for i, f := range p.Functions {
		err := f.checkRole()
		for _, g := range p.Functions[:i] {
			if g.Name == f.Name {
				err = fmt.Errorf("there are two of that name")
			}
		}
		if err == nil && keepers[f.Name] != nil {
			err = p.checkRetained(f)
		}
		if err != nil {
			return fmt.Errorf("function %s: %w", f.Name, err)
		}
	}
	return nil
}

func (f *Function) checkRole() error {
	for i := range f.Nodes {
		if f.Nodes[i].Op.Host() {
			return fmt.Errorf("%s: the host does that, devices never do", f.title(i))
		}
	}
	for _, o := range f.Outputs {
		if !o.Keep {
			continue
		}
		t := f.Values[o.Value].Type
		switch f.Name {
		case Forward, Backward:
		case Train, Reduce:
			if t.Kind != Whole {
				return fmt.Errorf("output %s is kept and %v: want whole; an all_reduce is missing", o.Name, t)
			}
		default:
			return fmt.Errorf("output %s is kept; only %s keeps outputs, and %s, %s and %s", o.Name, Train,
				Forward, Backward, Reduce)
		}
		if f.Name == Backward && t.Kind == Rows {
			return fmt.Errorf("output %s is kept and %v: what is kept behind the backward pass has no rows",
				o.Name, t)
		}
	}
	if len(f.Updates) > 0 && f.Name != Commit {
		return fmt.Errorf("it updates state %s; only %s updates state", f.Updates[0].State, Commit)
	}
	return nil
}

// checkRetained checks the inputs of a function that are kept outputs of other functions.
func (p *Program) checkRetained(f *Function) error {
	retained := p.Retained(f.Name)
	for _, v := range f.Inputs {
		name, got := f.Values[v].Name, f.Values[v].Type
		want, ok := retained[name]
		if ok && !equalType(got, want) {
			return fmt.Errorf("input %s is %v, %s keeps %v", name, got, p.keeping(f.Name), want)
		}
		switch {
		case ok || f.Name == Backward:
		case f.Name == Commit && got.Kind == Whole && len(got.Shape) == 0:
		case f.Name == Commit:
			return fmt.Errorf("input %s is %v: neither does %s keep it nor is it a whole scalar", name, got,
				p.keeping(f.Name))
		default:
			return fmt.Errorf("input %s is %v, and %s does not keep it", name, got, p.keeping(f.Name))
		}
	}
	return nil
}

// keeping names the function that keeps outputs for another.
func (p *Program) keeping(function string) string {
	names := keepers[function]
	for _, name := range names {
		if p.Function(name) != nil {
			return name
		}
	}
	return names[0]
}
