package graph

import "strconv"

// Text returns the text form of g, which must be valid:
//
//	bnctl graph 1
//	graph "tiny"
//
//	state fc.weight f32[10,784] weight he_normal(0)
//	state fc.bias f32[10] bias zeros
//
//	func main(x rows u8[28,28,1]) {
//	  image = image(x, mean=[0.1307], std=[0.3081])  # rows f32[1,28,28]
//	  flat = reshape(image, shape=[784])  # rows f32[784]
//	  fc = dense(flat, @fc.weight, @fc.bias)  # rows f32[10]
//	  return logits rows = fc
//	}
//
// A line has one node: its results, its operation, its operands (@ reads state,
// _ is an absent one) and the attributes that differ from their default.
// # begins a comment; types are comments, since inference computes them. "return
// NAME KIND = VALUE" is an output; the kind whole may be left out. In programs
// "keep" instead of "return" is an output that stays on the device, and "update
// @STATE = VALUE" is an update. "read @STATE" and "input NAME TYPE" declare
// values before the first node that uses them.
//
// The same graph gives the same bytes, and ParseGraph gives the same graph back.
func (g *Graph) Text() []byte {
	w := &writer{}
	w.head("graph", g.Name, g.State)
	w.function(g.Main)
	return w.b
}

// Text returns the text form of p, which must be valid. It is the form of a
// graph with several functions; see Graph.Text.
func (p *Program) Text() []byte {
	w := &writer{}
	w.head("program", p.Name, p.State)
	for _, f := range p.Functions {
		w.function(f)
	}
	return w.b
}

// textVersion is the version of the text form.
const textVersion = "1"

type writer struct {
	b    []byte
	f    *Function
	next Value // the first value that is not declared by the lines so far
}

func (w *writer) put(texts ...string) {
	for _, s := range texts {
		w.b = append(w.b, s...)
	}
}

func (w *writer) head(form, name string, table []State) {
	w.put("bnctl ", form, " ", textVersion, "\n", form, " ", strconv.Quote(name), "\n")
	if len(table) > 0 {
		w.put("\n")
	}
	for i := range table {
		w.state(&table[i])
	}
}

func (w *writer) state(s *State) {
	w.put("state ", s.Name, " ")
	w.shape(s.DType.String(), s.Shape)
	w.put(" ", string(s.Role))
	if s.Init.Rule != "" {
		w.put(" ", s.Init.Rule)
	}
	if len(s.Init.Args) > 0 {
		w.put("(")
		w.floats(s.Init.Args)
		w.put(")")
	}
	w.put("\n")
}

func (w *writer) shape(dtype string, shape []int) {
	w.put(dtype, "[")
	for i, n := range shape {
		w.comma(i)
		w.b = strconv.AppendInt(w.b, int64(n), 10)
	}
	w.put("]")
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.put(",")
	}
}

func (w *writer) typ(t Type) {
	w.put(t.Kind.String(), " ")
	w.shape(t.DType.String(), t.Shape)
}

func (w *writer) floats(l []float64) {
	for i, x := range l {
		w.comma(i)
		w.b = strconv.AppendFloat(w.b, x, 'g', -1, 64)
	}
}

func (w *writer) attr(val any) {
	switch v := val.(type) {
	case int64:
		w.b = strconv.AppendInt(w.b, v, 10)
	case float64:
		w.b = strconv.AppendFloat(w.b, v, 'g', -1, 64)
	case bool:
		w.b = strconv.AppendBool(w.b, v)
	case string:
		w.b = strconv.AppendQuote(w.b, v)
	case []int64:
		w.put("[")
		for i, x := range v {
			w.comma(i)
			w.b = strconv.AppendInt(w.b, x, 10)
		}
		w.put("]")
	case []float64:
		w.put("[")
		w.floats(v)
		w.put("]")
	}
}
