package formula

import "slices"

// Registers assigns a vector register to each value. Numbers and constants keep their registers. The
// register of another value is free again after the last step that has the value as an argument.
type Registers struct {
	formula  *Formula
	last     []int
	register map[Value]int
	kept     map[Value]bool
	free     []int
}

// Assign assigns registers to the values that a loop keeps. These are all numbers, and constants as long as
// more than spare of the n registers are free. The first constants are those that wanted returns, because
// instructions cannot read them from memory.
func (f *Formula) Assign(n, spare int, wanted func(Step) []Value) *Registers {
	r := &Registers{formula: f, last: f.Last(), register: map[Value]int{}, kept: map[Value]bool{}}
	for i := range n {
		r.free = append(r.free, i)
	}
	keep := func(v Value, op Op) {
		if f.Steps[v].Op == op && !r.kept[v] && (op == Number || len(r.free) > spare) {
			r.register[v], r.kept[v] = r.Take(), true
		}
	}
	for _, op := range []Op{Number, Constant} {
		for _, s := range f.Steps {
			for _, v := range wanted(s) {
				keep(v, op)
			}
		}
		for v := range f.Steps {
			keep(Value(v), op)
		}
	}
	return r
}

// Kept returns the values that a loop keeps, in order.
func (r *Registers) Kept() []Value {
	var all []Value
	for v := range r.formula.Steps {
		if r.kept[Value(v)] {
			all = append(all, Value(v))
		}
	}
	return all
}

// Take returns a free register.
func (r *Registers) Take() int {
	if len(r.free) == 0 {
		panic("formula: " + r.formula.Name + " has too many values")
	}
	i := r.free[0]
	r.free = r.free[1:]
	return i
}

// Free makes register i free again.
func (r *Registers) Free(i int) { r.free = append([]int{i}, r.free...) }

// Of returns the register of a value. A constant may have no register.
func (r *Registers) Of(v Value) (i int, ok bool) {
	i, ok = r.register[v]
	return i, ok
}

// Set records the register of a step's result.
func (r *Registers) Set(v Value, i int) { r.register[v] = i }

// Dies reports whether step is the last one that reads its argument v.
func (r *Registers) Dies(v Value, step int) bool {
	_, ok := r.register[v]
	return ok && !r.kept[v] && r.last[v] == step
}

// End frees the registers of the arguments that step is the last to read, but not register result, which
// holds the result of the step.
func (r *Registers) End(step int, result int) {
	args := slices.Clone(r.formula.Steps[step].Args)
	slices.Sort(args)
	for _, v := range slices.Compact(args) {
		if r.Dies(v, step) {
			if r.register[v] != result {
				r.Free(r.register[v])
			}
			delete(r.register, v)
		}
	}
}
