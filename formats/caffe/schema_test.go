package caffe

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

var update = flag.Bool("update", false, "write the section of docs/formats.md anew")

// cases returns networks that together have every type of layer.
func cases(t *testing.T) map[string]func() *net {
	t.Helper()
	all := map[string]func() *net{}
	for _, name := range []string{"network", "old", "poolings", "snapshot", "usual"} {
		b, err := os.ReadFile("testdata/cases/" + name + ".caffemodel")
		if err != nil {
			t.Fatal(err)
		}
		all[name] = func() *net {
			n, err := decodeNet(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	text, err := os.ReadFile("testdata/all.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	all["all"] = func() *net {
		n, err := parseText(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return all
}

// TestSchema gives every field of every supported layer a value of a wrong type in turn: a
// field that the schema marks as read is rejected, an irrelevant one changes nothing, and a
// field outside the schema is rejected by number.
func TestSchema(t *testing.T) {
	refused := map[string]map[string]bool{}
	for name, load := range cases(t) {
		plain, err := load().model(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := string(plain.Graph.Text())
		for i, l := range load().layers {
			k := kinds[l.kind]
			if k.make == nil {
				continue
			}
			with := func(setting, number int) (string, error) {
				n := load()
				if n.layers[i].params == nil {
					n.layers[i].params = map[int]param{}
				}
				p := &n.layers[i].params
				(*p)[setting] = protowire.AppendFixed64(protowire.AppendTag((*p)[setting], protowire.Number(number),
					protowire.Fixed64Type), 1<<63)
				m, err := n.model(nil)
				if err != nil {
					return "", err
				}
				return string(m.Graph.Text()), nil
			}
			if refused[l.kind] == nil {
				refused[l.kind] = map[string]bool{}
			}
			if s := settingsOf(k.param); s != nil {
				for _, f := range messageNamed(s.kind).fields {
					got, err := with(k.param, f.number)
					refused[l.kind][f.name] = refused[l.kind][f.name] || err != nil
					if f.use == "-" && got != want {
						t.Errorf("%s: field %s is of no account, and changes the graph: %v", l.kind, f.name, err)
					}
				}
				if _, err := with(k.param, 77); err == nil || !strings.Contains(err.Error(), "field 77 of "+s.name) {
					t.Errorf("%s: a field that is not known: %v", l.kind, err)
				}
			}
			if _, err := with(999, 1); err == nil || !strings.Contains(err.Error(), "field 999 of the layer") {
				t.Errorf("%s: settings that are not known: %v", l.kind, err)
			}
		}
	}
	for class, k := range kinds {
		if k.make == nil {
			continue
		}
		if refused[class] == nil {
			t.Errorf("no case has a layer %s", class)
		}
		if s := settingsOf(k.param); s != nil {
			for _, f := range messageNamed(s.kind).fields {
				if f.use != "-" && !refused[class][f.name] {
					t.Errorf("%s: field %s is said to be heeded (%s), and may be nonsense", class, f.name, f.use)
				}
			}
		}
	}
}

// TestDocs: docs/formats.md has the schema, line by line.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/formats.md", "<!-- caffe: begin -->\n", "<!-- caffe: end -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no %q or no %q", path, begin, end)
	}
	want := schemaTable()
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Errorf("%s does not have the table of schema.go: run go test -run TestDocs -update", path)
	}
}

func schemaTable() string {
	var b strings.Builder
	b.WriteString("| layer | honoured | with one value alone | of no account in prediction |\n|---|---|---|---|\n")
	for _, class := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[class].make == nil {
			continue
		}
		var cells [3][]string
		if s := settingsOf(kinds[class].param); s != nil {
			for _, f := range messageNamed(s.kind).fields {
				switch f.use[:1] {
				case "+":
					cells[0] = append(cells[0], f.name)
				case "=":
					cells[1] = append(cells[1], f.name+": "+f.use[1:])
				case "-":
					cells[2] = append(cells[2], f.name)
				}
			}
		}
		fmt.Fprintf(&b, "| %s", class)
		for _, c := range cells {
			fmt.Fprintf(&b, " | %s", strings.Join(c, ", "))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// TestDescriptions reads files of weights together with descriptions of networks in text.
// The third and the fourth description are of the same network with poolings that round
// down.
func TestDescriptions(t *testing.T) {
	x := npy(t, "testdata/cases/first.input.npy")
	for _, c := range []struct{ weights, text, output string }{{"first", "first", "first"},
		{"floor", "floor", "floor"}, {"floor", "floor_fork", "floor"}} {
		text, err := os.ReadFile("testdata/cases/" + c.text + ".prototxt")
		if err != nil {
			t.Fatal(err)
		}
		if !SniffText(text[:64]) {
			t.Errorf("%s is not recognised", c.text)
		}
		f, err := Read("testdata/cases/"+c.weights+".caffemodel", Options{Description: text})
		if err != nil || f.Model == nil {
			t.Fatalf("%s: %v, %v", c.text, err, f)
		}
		near(t, c.text, predict(t, f.Model, x), npy(t, "testdata/cases/"+c.output+".output.npy"))
	}
}

// TestInput: a network that was saved with its data layer is read with the size of its
// input; a size in the file must be the same.
func TestInput(t *testing.T) {
	f, err := Read("testdata/cases/first.caffemodel", Options{Input: []int{2, 8, 8}})
	if err != nil || f.Model == nil {
		t.Fatalf("%v, %v", err, f)
	}
	got := predict(t, f.Model, npy(t, "testdata/cases/first.input.npy"))
	near(t, "first", got, npy(t, "testdata/cases/first.output.npy"))
	f, err = Read("testdata/cases/usual.caffemodel", Options{Input: []int{2, 8, 8}})
	if err != nil || f.NoModel == nil || !strings.Contains(f.NoModel.Error(), "[1 4 6 5]") {
		t.Errorf("another size than the file's: %v, %v", err, f.NoModel)
	}
}

// TestRefusesText: wrong or unsupported descriptions are rejected.
func TestRefusesText(t *testing.T) {
	b, err := os.ReadFile("testdata/cases/first.caffemodel")
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile("testdata/cases/first.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"", "", "it was read"},
		{"kernel_size", "kernel_sise", "kernel_sise is not one of"},
		{"type: RELU", "type: GELU", "invalid value for enum"},
		{`name: "fc" type`, `name: "fc2" type`, "layer fc2 (InnerProduct): has 0 blobs"},
		{"input_dim: 8 input_dim: 8", "", "how large its input is"},
		{"num_output: 3", "num_output: 5", "want [5 2 3 3]"},
		{`top: "prob"`, `top: "prob" include { stage: "x" }`, "ask for a level or a stage"},
		{`top: "prob"`, `top: "prob" include { phase: TRAIN }`, "it was read"},
		{`top: "fc"`, `top: "fc" include { phase: TRAIN }`, `no layer before it makes "fc"`},
		{`top: "fc"`, `top: "fc" exclude { phase: TRAIN }`, "it was read"},
		{`pool: MAX`, `pool: STOCHASTIC`, "method 2"},
		{`type: RELU bottom: "conv" top: "conv"`, `type: RELU bottom: "conv"`, "1 inputs and 0 outputs"},
		{"layers {", strings.Repeat("#", maxText) + "\nlayers {", "at most 1048576"},
	} {
		text := strings.Replace(string(good), c.from, c.to, 1)
		f, err := read(bytes.NewReader(b), int64(len(b)), Options{Description: []byte(text)})
		got := "it was read"
		if err == nil && f.NoModel != nil {
			err = f.NoModel
		}
		if err != nil {
			got = strings.ReplaceAll(err.Error(), "\u00a0", " ") // prototext writes either kind of space
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q for %q: %s\nwant %s", c.to, c.from, got, c.want)
		}
	}
	const running = `input: "x" input_dim: 1 input_dim: 2 input_dim: 2 input_dim: 2 layer { name: "b" type: "BatchNorm" ` +
		`bottom: "x" top: "y" batch_norm_param { use_global_stats: false } }`
	n, err := parseText([]byte(running))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.model(nil); err == nil || !strings.Contains(err.Error(), "use_global_stats is false") {
		t.Errorf("a batch norm that normalises by its batch: %v", err)
	}
}

func FuzzText(f *testing.F) {
	for _, path := range []string{"all", "cases/first", "cases/floor_fork"} {
		b, err := os.ReadFile("testdata/" + path + ".prototxt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := parseText(b)
		if err != nil {
			return
		}
		if m, err := n.model(nil); err == nil && m.Check() != nil {
			t.Error("a model that is not valid was read")
		}
	})
}
