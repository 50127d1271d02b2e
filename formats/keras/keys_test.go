package keras

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
)

var update = flag.Bool("update", false, "write the section of docs/formats.md anew")

// opened returns a file of testdata. Its description can be changed.
func opened(t *testing.T, path string) *content {
	t.Helper()
	c := &content{root: mustOpen(t, path).Root(), size: 1 << 20}
	err := c.attributes()
	if err == nil {
		var weights *hdf5.Object
		if weights, err = c.root.Open("model_weights"); err == nil {
			c.groups, err = readGroups(weights)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// built applies change to the description of a file and returns the text of the resulting
// graph, or the reason why it was refused.
func built(t *testing.T, from *content, change func(layers []any)) (string, error) {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal(from.config, &d); err != nil {
		t.Fatal(err)
	}
	change(d["config"].(map[string]any)["layers"].([]any))
	c := *from
	c.file = &foreign.File{}
	var err error
	if c.config, err = json.Marshal(d); err != nil {
		t.Fatal(err)
	}
	if err := c.build(c.matchGroups); err != nil {
		return "", err
	}
	return string(c.file.Model.Graph.Text()), nil
}

// TestKeys tries every key of the table on a layer of every class: keys that are read
// reject invalid values, limited keys accept one value, and ignored keys change nothing. An
// unknown key is rejected by its name.
func TestKeys(t *testing.T) {
	tried := map[string]bool{}
	preprocessing := &content{size: 1 << 20, config: layersOf("[null,2,2,2]",
		`Normalization|n|,"mean":1,"variance":4`,
		`Resizing|r|,"height":4,"width":4`, `CenterCrop|c|,"height":2,"width":2`,
		`TFOpLambda|o|,"function":"math.subtract"|{"y":1.0}`,
		`SlicingOpLambda|s|,"function":"__operators__.getitem"|{"slice_spec":["...",`+
			`{"start":null,"stop":null,"step":-1}]}`,
		`LayerNormalization|l|,"scale":false,"center":false`,
		`GroupNormalization|g|,"scale":false,"center":false,"groups":2`, `UnitNormalization|u|`, `Gelu|ge|`,
		`Mish|mi|`, `Silu|si|`)}
	attending := &content{size: 1 << 20, config: layersOf("[null,3,2]",
		`MultiHeadAttention|a|,"num_heads":2,"key_dim":3|{"value":["x",0,0]}`)}
	weights := group{name: "a"}
	for _, shape := range [][]int{{2, 2, 3}, {2, 3}, {2, 2, 3}, {2, 3}, {2, 2, 3}, {2, 3}, {2, 3, 2}, {2}} {
		weights.arrays = append(weights.arrays, array{fmt.Sprint("a/", len(weights.arrays)),
			inMemory(make([]byte, 4*product(shape))), hdf5.Type{Class: hdf5.Float, Size: 4, Signed: true}, shape})
	}
	attending.groups = []group{weights}
	for _, file := range []*content{opened(t, "testdata/layers.h5"), opened(t, "testdata/lines.h5"),
		preprocessing, attending} {
		plain, err := built(t, file, func([]any) {})
		if err != nil {
			t.Fatal(err)
		}
		var classes []string
		built(t, file, func(layers []any) {
			for _, l := range layers {
				classes = append(classes, l.(map[string]any)["class_name"].(string))
			}
		})
		for i, class := range classes {
			if tried[class] {
				continue
			}
			tried[class] = true
			with := func(key string, value any) (string, error) {
				return built(t, file, func(layers []any) {
					layers[i].(map[string]any)["config"].(map[string]any)[key] = value
				})
			}
			checkKind(t, class, plain, with)
		}
	}
	for class := range kinds {
		if !tried[class] {
			t.Errorf("no file has a layer %s", class)
		}
	}
}

func checkKind(t *testing.T, class, plain string, with func(key string, value any) (string, error)) {
	nonsense := map[string]any{"nonsense": 1}
	for _, k := range []layerKind{kinds[class], everywhere} {
		for _, key := range strings.Fields(k.reads) {
			if key == "name" || key == "batch_shape" && class != "InputLayer" {
				continue // "name" is read outside the configuration, and a shape only on the first layer
			}
			if _, err := with(key, nonsense); err == nil {
				t.Errorf("%s: key %s is said to be heeded, and may be nonsense", class, key)
			}
		}
		for _, key := range strings.Fields(k.ignores) {
			if got, err := with(key, nonsense); err != nil || got != plain {
				t.Errorf("%s: key %s is said to be ignored, and changes the graph: %v", class, key, err)
			}
		}
		for key, only := range k.required {
			if _, err := with(key, nonsense); err == nil || !strings.Contains(err.Error(), only.asks) {
				t.Errorf("%s: key %s is taken with another value, or refused as %v", class, key, err)
			}
			if got, err := with(key, json.RawMessage(only.value)); err != nil || got != plain {
				t.Errorf("%s: key %s is refused with its usual value: %v", class, key, err)
			}
		}
	}
	if _, err := with("new_key", 1); err == nil || !strings.Contains(err.Error(), `the key "new_key", which is 1`) {
		t.Errorf("%s: a key that is not known is not refused: %v", class, err)
	}
}

// TestTypes: a layer that computes in integers or in quantised numbers differs from the layer
// in the graph and is rejected; policies that only save memory are accepted.
func TestTypes(t *testing.T) {
	policy := func(class, name string) string {
		return fmt.Sprintf(`{"module":"keras","class_name":%q,"config":{"name":%q},"registered_name":null}`, class, name)
	}
	for dtype, ok := range map[string]bool{`"float32"`: true, `"mixed_float16"`: true, `null`: true,
		policy("DTypePolicy", "mixed_bfloat16"): true, policy("Policy", "float32"): true, `"int32"`: false, `7`: false,
		`"string"`: false, policy("QuantizedDTypePolicy", "int8_from_float32"): false,
		policy("DTypePolicyMap", "float32"): false} {
		err := build1(functional("a", layerOf("Activation", "a", `"activation":"relu","dtype":`+dtype, "in")))
		if (err == nil) != ok {
			t.Errorf("dtype %s: %v", dtype, err)
		}
	}
	for dtype, ok := range map[string]bool{`"uint8"`: true, `"string"`: false} {
		config := functional("a", layerOf("Activation", "a", `"activation":"relu"`, "in"))
		config = strings.Replace(config, `"batch_input_shape"`, `"dtype":`+dtype+`,"batch_input_shape"`, 1)
		if err := build1(config); (err == nil) != ok {
			t.Errorf("an input of %s: %v", dtype, err)
		}
	}
}

// TestMakers checks that a class of another package is not accepted as the class of Keras
// with the same name, and that functions of Keras 3 are not accepted as layers.
func TestMakers(t *testing.T) {
	for _, c := range []struct{ class, beside, want string }{
		{"ReLU", `"module":"keras.layers","registered_name":null`, ""},
		{"ReLU", `"module":"tf_keras.src.layers.activation.relu"`, ""},
		{"ReLU", `"registered_name":"Custom>ReLU"`, `registered as "Custom>ReLU"`},
		{"ReLU", `"module":"my_project.layers"`, `module "my_project.layers"`},
		{"Multiply", `"module":"keras.src.ops.numpy","registered_name":"Multiply"`, ""},
		{"Softmax", `"module":"keras.src.ops.nn"`, "not supported: a (Softmax)"},
	} {
		l := strings.Replace(layerOf(c.class, "a", ``, "in"), `{"class_name"`, `{`+c.beside+`,"class_name"`, 1)
		if c.class == "Multiply" {
			l = strings.Replace(l, `["in",0,0,{}]`, `["in",0,0,{}],["in",0,0,{}]`, 1)
		}
		err := build1(functional("a", l))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s beside %s: %v, want %q", c.class, c.beside, err, c.want)
		}
	}
}

// TestDocs: docs/formats.md has the table of kinds, line by line.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/formats.md", "<!-- keras: begin -->\n", "<!-- keras: end -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no %q or no %q", path, begin, end)
	}
	want := kindsTable()
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Errorf("%s does not have the table of kinds.go: run go test -run TestDocs -update", path)
	}
}

func kindsTable() string {
	var b strings.Builder
	b.WriteString("| layer | honoured | with one value alone | of no account in prediction |\n|---|---|---|---|\n")
	row := func(name string, k layerKind) {
		var only []string
		for _, key := range slices.Sorted(maps.Keys(k.required)) {
			only = append(only, fmt.Sprintf("%s: %s", key, k.required[key].value))
		}
		cells := []string{name, listed(k.reads), strings.Join(only, ", "), listed(k.ignores)}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	row("every layer", everywhere)
	for _, class := range slices.Sorted(maps.Keys(kinds)) {
		row(class, kinds[class])
	}
	return b.String()
}

func listed(keys string) string { return strings.Join(strings.Fields(keys), ", ") }

// TestMomentum: momentum is the weight of the old value in the running statistics. A
// momentum of 1, which would never update them, counts as absent.
func TestMomentum(t *testing.T) {
	c := opened(t, "testdata/base.h5")
	for momentum, want := range map[float64]string{0.75: "decay=0.75", 1: "decay=0.99,", 1.5: "momentum is 1.5;",
		-0.25: "momentum is -0.25;"} {
		got, err := built(t, c, func(layers []any) {
			for _, l := range layers {
				if l := l.(map[string]any); l["class_name"] == "BatchNormalization" {
					l["config"].(map[string]any)["momentum"] = momentum
				}
			}
		})
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("momentum %g: %s, want %s", momentum, got, want)
		}
	}
}
