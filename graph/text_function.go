package graph

import "slices"

func (w *writer) function(f *Function) {
	w.f, w.next = f, 0
	w.put("\nfunc ", f.Name, "(")
	for int(w.next) < len(f.Inputs) && f.Inputs[w.next] == w.next {
		if w.next > 0 {
			w.put(", ")
		}
		w.put(f.Values[w.next].Name, " ")
		w.typ(f.Values[w.next].Type)
		w.next++
	}
	w.put(") {\n")
	for i := range f.Nodes {
		w.node(&f.Nodes[i])
	}
	for _, o := range f.Outputs {
		w.output(o)
	}
	for _, u := range f.Updates {
		w.declare([]Value{u.Value}, nil)
		w.put("  update @", u.State, " = ", f.Values[u.Value].Name, "\n")
	}
	w.declareUpTo(Value(len(f.Values)))
	w.put("}\n")
}

// declare writes the lines that declare values before a line with operands ins and results outs. A
// line also declares the state that it is the first to read. It leaves state to that rule only if the
// parser then gives these values the same numbers.
func (w *writer) declare(ins, outs []Value) {
	limit := w.next
	if len(outs) > 0 {
		limit = outs[0]
	}
	var fresh []Value
	for _, v := range ins {
		limit = max(limit, v+1)
		if v >= w.next && w.f.Values[v].State != "" && !slices.Contains(fresh, v) {
			fresh = append(fresh, v)
		}
	}
	begin := limit - Value(len(fresh))
	for i, v := range fresh {
		if v != begin+Value(i) {
			begin = limit
			break
		}
	}
	w.declareUpTo(begin)
	w.next = limit + Value(len(outs))
}

func (w *writer) declareUpTo(limit Value) {
	for ; w.next < limit; w.next++ {
		v := &w.f.Values[w.next]
		if v.State != "" {
			w.put("  read ", v.Name, "\n")
			continue
		}
		w.put("  input ", v.Name, " ")
		w.typ(v.Type)
		w.put("\n")
	}
}

func (w *writer) node(n *Node) {
	w.declare(n.In, n.Out)
	w.put("  ")
	for i, v := range n.Out {
		if i > 0 {
			w.put(", ")
		}
		w.put(w.f.Values[v].Name)
	}
	if len(n.Out) > 0 {
		w.put(" = ")
	}
	w.put(n.Op.String(), "(")
	for i, v := range n.In {
		if i > 0 {
			w.put(", ")
		}
		w.put(w.f.name(v))
	}
	for i, a := range n.Attrs {
		if i > 0 || len(n.In) > 0 {
			w.put(", ")
		}
		w.put(a.Key, "=")
		w.attr(a.Val)
	}
	w.put(")")
	w.types(n.Out)
	w.put("\n")
}

// name returns the name of an operand.
func (f *Function) name(v Value) string {
	if v == None {
		return absent
	}
	return f.Values[v].Name
}

// types writes the comment after a node.
func (w *writer) types(out []Value) {
	for i, v := range out {
		if i == 0 {
			w.put("  # ")
		} else {
			w.put(", ")
		}
		w.typ(w.f.Values[v].Type)
	}
}

func (w *writer) output(o Output) {
	w.declare([]Value{o.Value}, nil)
	if o.Keep {
		w.put("  keep ")
	} else {
		w.put("  return ")
	}
	w.put(o.Name)
	if k := w.f.Values[o.Value].Type.Kind; k != Whole {
		w.put(" ", k.String())
	}
	w.put(" = ", w.f.Values[o.Value].Name, "\n")
}
