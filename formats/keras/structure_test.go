package keras

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// TestWrongTypes replaces every value of a description by a value of every kind: the model
// is rejected or built, and messages never mention Go's types.
func TestWrongTypes(t *testing.T) {
	told := map[string]bool{}
	for _, name := range []string{"same-keras3.h5", "lines.h5", "same-sequential-list.h5",
		"inside-sequential.h5"} {
		file := opened(t, "testdata/"+name)
		var d any
		if err := json.Unmarshal(file.config, &d); err != nil {
			t.Fatal(err)
		}
		swap(&d, func() {
			c := *file
			c.file = &foreign.File{}
			c.config, _ = json.Marshal(d)
			err := c.build(c.matchGroups)
			if err == nil {
				return
			}
			text := err.Error()
			for _, word := range []string{"json:", "Go ", "<nil>", "map[", "interface"} {
				if strings.Contains(text, word) && !told[text] && len(told) < 20 {
					told[text] = true
					t.Errorf("%s: %s", name, text)
				}
			}
		})
	}
}

// swap replaces each value in x in turn by values of other kinds, and calls f each time.
func swap(x *any, f func()) {
	was := *x
	for _, other := range []any{nil, true, 7, 0.5, "text", []any{}, []any{nil}, []any{"a", 1, 2},
		map[string]any{}, map[string]any{"a": []any{1}}} {
		*x = other
		f()
	}
	*x = was
	switch was := was.(type) {
	case []any:
		for i := range was {
			swap(&was[i], f)
		}
	case map[string]any:
		for key, v := range was {
			swap(&v, func() { was[key] = v; f() })
			was[key] = v
		}
	}
}

// TestStructures: inputs and outputs of a model, and of calls, may be in lists and dicts at
// any depth.
func TestStructures(t *testing.T) {
	tensor3 := func(layer string) string {
		return fmt.Sprintf(`{"class_name":"__keras_tensor__","config":{"keras_history":[%q,0,0]}}`, layer)
	}
	relu := layerOf("Activation", "a", `"activation":"relu"`, "in")
	tanh := layerOf("Activation", "b", `"activation":"tanh"`, "in")
	inner := func(inputs, args string) string {
		return fmt.Sprintf(`{"class_name":"Functional","name":"m","config":{"name":"m","layers":[%s,%s,%s],`+
			`"input_layers":%s,"output_layers":{"sum":["s",0,0]}},"inbound_nodes":[{"args":[%s],"kwargs":{}}]}`,
			input("x", "8,8,2"), input("y", "8,8,2"),
			`{"class_name":"Subtract","name":"s","config":{},"inbound_nodes":[[["x",0,0],["y",0,0]]]}`, inputs, args)
	}
	outs := func(of string, layers ...string) string {
		all := functional("a", append([]string{relu, tanh}, layers...)...)
		return strings.Replace(all, `"output_layers":[["a",0,0]]`, `"output_layers":`+of, 1)
	}
	for _, c := range []struct{ config, want string }{
		{outs(`["a",0,0]`), ", a rows = a"},
		{outs(`{"p":["a",0,0]}`), ", p rows = a"},
		{outs(`{"q":["b",0,0],"p":["a",0,0]}`), ", p rows = a, q rows = b"},
		{outs(`[["b",0,0],["a",0,0]]`), ", b rows = b, a rows = a"},
		{outs(`[["b",0,0],[["a",0,0]]]`), ", b rows = b, a rows = a"},
		{outs(`{"p":[["b",0,0],["a",0,0]],"c":["a",0,0]}`), ", c rows = a, p.0 rows = b, p.1 rows = a"},
		{strings.Replace(outs(`["a",0,0]`), `"input_layers":[["in",0,0]]`, `"input_layers":{"picture":["in",0,0]}`, 1),
			", a rows = a"},
		{outs(`{"p":{"class_name":"__tuple__","items":[["a",0,0],["b",0,0]]}}`), ", p.0 rows = a, p.1 rows = b"},
		{outs(`{"p":5}`), "output_layers: the argument 5 is not a tensor"},
		{outs(`"a"`), `output_layers is "a", want a list or a dict of tensors`},
		{strings.Replace(outs(`["a",0,0]`), `"input_layers":[["in",0,0]]`,
			`"input_layers":{"p":["in",0,0],"q":["in",0,0]}`, 1), "has 2 inputs; 1 is supported"},

		// These are calls of a nested model, with inputs in a list and in a dict.
		{outs(`["m",0,0]`, inner(`[["x",0,0],["y",0,0]]`, `[`+tensor3("a")+","+tensor3("b")+`]`)), "sub(a, b)"},
		{outs(`["m",0,0]`, inner(`[["x",0,0],["y",0,0]]`, `{"y":`+tensor3("a")+`,"x":`+tensor3("b")+`}`)), "sub(b, a)"},
		{outs(`["m",0,0]`, inner(`{"l":["x",0,0],"k":["y",0,0]}`, `{"l":`+tensor3("a")+`,"k":`+tensor3("b")+`}`)), "sub(a, b)"},
		{outs(`["m",0,0]`, inner(`{"l":["x",0,0],"k":["y",0,0]}`, `{"l":`+tensor3("a")+`,"z":`+tensor3("b")+`}`)),
			`is called with the inputs ["l" "z"], want ["k" "l"]`},
		{outs(`["c",0,0]`, strings.Replace(layerOf("Add", "c", ``, "a"), `[[["a",0,0,{}]]]`,
			`[{"args":[{"x":`+tensor3("a")+`,"y":`+tensor3("b")+`}],"kwargs":{}}]`, 1)), "is called with a dict"},
	} {
		n, err := parseModel([]byte(c.config))
		got := ""
		if err == nil {
			b := &build{weights: weights{}, major: 3}
			m, e := b.toModel(n)
			if err = e; err == nil {
				got = strings.ReplaceAll(string(m.Graph.Text()), "\n  return ", ", ")
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%.600s: %s, want %s", c.config, got, c.want)
		}
	}
}
