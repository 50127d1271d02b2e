package keras

import (
	"fmt"
	"strings"
	"testing"
)

// build1 builds a model from a description, without weights, and returns the error.
func build1(config string) error {
	n, err := parseModel([]byte(config))
	if err != nil {
		return err
	}
	if n, _, err = n.singleDevice(); err != nil {
		return err
	}
	if err := n.checkLayers(); err != nil {
		return err
	}
	b := &build{weights: weights{}, major: 2}
	_, err = b.toModel(n)
	return err
}

// functional describes a functional model with an input (8, 8, 2) and the given layers.
func functional(out string, layers ...string) string {
	return fmt.Sprintf(`{"class_name":"Model","config":{"name":"m","layers":[%s],"input_layers":[["in",0,0]],"output_layers":[["%s",0,0]]}}`,
		strings.Join(append([]string{input("in", "8,8,2")}, layers...), ","), out)
}

func input(name, shape string) string {
	return fmt.Sprintf(`{"class_name":"InputLayer","name":"%s","config":{"batch_input_shape":[null,%s]},"inbound_nodes":[]}`, name, shape)
}

// layerOf describes a layer that is called once.
func layerOf(class, name, config, from string) string {
	return fmt.Sprintf(`{"class_name":"%s","name":"%s","config":{%s},"inbound_nodes":[[["%s",0,0,{}]]]}`, class,
		name, config, from)
}

// cutter describes a slicing layer of multi_gpu_model.
func cutter(name string, i, parts int) string {
	return layerOf("Lambda", name, fmt.Sprintf(`"arguments":{"i":%d,"parts":%d}`, i, parts), "in")
}

// replicated describes a model wrapped by multi_gpu_model: the calls of the nested model,
// the joined results, and more layers.
func replicated(calls, join string, more ...string) string {
	inner := `{"class_name":"Model","name":"t","config":{"name":"t","layers":[` + input("i", "8,8,2") + `,` +
		layerOf("Activation", "a", `"activation":"relu"`,
			"i") + `],"input_layers":[["i",0,0]],"output_layers":[["a",0,0]]},"inbound_nodes":[` + calls + `]}`
	concat := `{"class_name":"Concatenate","name":"c","config":{"axis":0},"inbound_nodes":[[` + join + `]]}`
	return functional("c", append([]string{cutter("l1", 0, 2), cutter("l2", 1, 2), inner, concat}, more...)...)
}

// callsUpon describes depth nested models. Each model calls the next one twenty times.
func callsUpon(depth int) string {
	if depth == 0 {
		return functional("r", layerOf("Activation", "r", `"activation":"relu"`, "in"))
	}
	inner := strings.TrimSuffix(callsUpon(depth-1), "}")
	calls := `[["in",0,0,{}]]`
	for i := range 19 {
		calls += fmt.Sprintf(`,[["t",%d,0,{}]]`, i)
	}
	return strings.Replace(functional("t", inner+`,"name":"t","inbound_nodes":[`+calls+`]}`), `["t",0,0]`,
		`["t",19,0]`, 1)
}

const (
	goodCalls = `[["l1",0,0,{}]],[["l2",0,0,{}]]`
	goodJoin  = `["t",1,0,{}],["t",2,0,{}]`

	secondModel = `{"class_name":"Model","name":"u","config":{"name":"u","layers":[],"input_layers":[],` +
		`"output_layers":[]},"inbound_nodes":[]}`
)

func TestRefused(t *testing.T) {
	relu := layerOf("Activation", "r", `"activation":"relu"`, "in")
	deep := input("in", "8,8,2")
	for range 20 {
		deep = `{"class_name":"Sequential","config":{"name":"s","layers":[` + deep + `]}}`
	}
	for _, c := range []struct{ config, want string }{
		{functional("r", relu), ""},
		{replicated(goodCalls, goodJoin), ""},

		// These descriptions are invalid.
		{``, "unexpected end"}, {`[]`, "the description is a list, want an object"}, {`{"class_name":"MyModel","config":{}}`, `"MyModel"`},
		{`{"class_name":"Model","class_name":"Sequential","config":{}}`, `"class_name" occurs twice`},
		{functional("r", strings.Replace(relu, `"activation":`, `"activation":"elu","activation":`, 1)),
			`"activation" occurs twice`},
		{functional("r", relu, relu), `two layers called "r"`},
		{functional("nowhere", relu), `no layer "nowhere"`},
		{functional("r", strings.Replace(relu, `[["in",0,0,{}]]`, `[["in",0,9,{}]]`, 1)), "no result 9"},
		{strings.Replace(functional("r", relu), `["r",0,0]`, `["r",3,0]`, 1), "is called 1 times"},
		{functional("r", strings.Replace(relu, `["in",0,0,{}]`, `"in"`, 1)), "not [layer, call, tensor]"},
		{functional("r", strings.Replace(relu, `["in",0,0,{}]`, `["in",1e99,0,{}]`, 1)),
			"not [layer, call, tensor]"},
		{functional("r", strings.Replace(relu, `["in",0,0,{}]`, `["in",0,0,{"training":true}]`, 1)),
			"training=True"},
		{functional("r", strings.Replace(relu, `["in",0,0,{}]`, `["in",0,0,{"mask":["in",0,0]}]`, 1)), `"mask"`},
		{functional("a", layerOf("Activation", "a", ``, "b"), layerOf("Activation", "b", ``, "a")),
			"takes its own result"},
		{deep, "nested more than 8"},
		{`{"class_name":"Sequential","config":{"name":"s","layers":[]}}`, "has no layers"},
		{`{"class_name":"Sequential","config":[{"class_name":"Activation","config":{"name":"a"}}]}`,
			"how large the input is"},
		{strings.Replace(functional("r", relu), "[null,8,8,2]", "[null,null,8,2]", 1), "input's size is open"},
		{strings.Replace(functional("r", relu), "[null,8,8,2]", "[null,-8,8,2]", 1), "shape"},
		{strings.Replace(functional("r", relu), `"input_layers":[["in",0,0]]`,
			`"input_layers":[["in",0,0],["in",0,0]]`, 1), "2 inputs"},
		{"[" + strings.Repeat(" ", maxConfig) + "]", "at most"},

		{callsUpon(5), "more than 65536 calls"},

		// These descriptions have layers that are not supported.
		{functional("b", layerOf("LSTM", "a", ``, "in"), layerOf("Bidirectional", "b", ``, "a")),
			"a (LSTM: recurrent), b (Bidirectional: recurrent)"},
		{functional("a", layerOf("Lambda", "a", `"function":["4wEAAAA=",null,null]`, "in")), "a (Lambda: code of Python, which is never run)"},
		{functional("a", layerOf("Activation", "a", `"activation":"crelu"`, "in")), `activation "crelu"`},
		{functional("a", layerOf("Activation", "a", `"activation":{"class_name":"Custom"}`, "in")), "Custom"},
		{functional("a", layerOf("Conv2D", "a", `"filters":2,"kernel_size":[3,3]`, "in")), "no weight kernel"},
		{functional("a", layerOf("Conv2D", "a", `"filters":2,"kernel_size":[3,0]`, "in")), "want 1 to 65536"},
		{functional("a", layerOf("MaxPooling2D", "a", `"padding":"causal"`, "in")), `padding "causal"`},
		{functional("a", layerOf("Conv2D", "a", `"filters":2,"kernel_size":3,"groups":0`, "in")), "0 groups"},
		{functional("a", layerOf("Conv2D", "a", `"filters":"two","kernel_size":3`, "in")), `filters is "two"`},
		{functional("a", layerOf("Conv1D", "a", `"filters":2,"kernel_size":3`, "in")), "takes a tensor of rank 3"},
		{functional("a", layerOf("MaxPooling2D", "a", `"pool_size":[1,2,3]`, "in")), "want 2 integers"},
		{functional("a", layerOf("MaxPooling2D", "a", `"pool_size":9`, "in")), "a length of 0"},
		{functional("a", layerOf("BatchNormalization", "a", `"axis":1`, "in")), "only the axis of the channels"},
		{functional("a", layerOf("BatchNormalization", "a", `"axis":9`, "in")), "axis 9"},
		{functional("a", layerOf("BatchNormalization", "a", `"mode":2`, "in")), "mode is 2"},
		{functional("a", layerOf("BatchNormalization", "a", `"renorm":true`, "in")), "renorm"},
		{functional("a", layerOf("Concatenate", "a", `"axis":0`, "in")), "batch cannot be joined"},
		{functional("a", layerOf("Softmax", "a", `"axis":0`, "in")), "softmax over axis 0"},
		{functional("a", layerOf("Reshape", "a", `"target_shape":[-1,-1]`, "in")), "target shape"},
		{functional("a", layerOf("Reshape", "a", `"target_shape":[4294967296,4294967296,4294967296]`, "in")),
			"target shape"},
		{functional("a", layerOf("Permute", "a", `"dims":[1,2,4]`, "in")), "dims are"},
		{functional("a", layerOf("Permute", "a", `"dims":[1,1,2]`, "in")), "perm"},
		{functional("a", layerOf("Cropping2D", "a", `"cropping":[[4,4],[0,0]]`, "in")), "slice"},
		{functional("a", layerOf("ZeroPadding2D", "a", `"padding":[[-1,0],[0,0]]`, "in")), "attribute before"},
		{functional("a", layerOf("UpSampling2D", "a", `"size":[0,2]`, "in")), "size is"},
		{functional("a", layerOf("UpSampling2D", "a", `"size":[2,2],"interpolation":"bicubic"`, "in")), "bicubic"},
		{functional("a", layerOf("ReLU", "a", `"threshold":0.5`, "in")), "threshold"},
		{functional("a", layerOf("RandomCrop", "a", `"height":8,"width":8`, "in")), ""},
		{functional("a", layerOf("RandomCrop", "a", `"height":8,"width":7`, "in")), "to 8x7"},
		{functional("a", layerOf("ReLU", "a", `"name":7`, "in")), "name is 7"},
		{functional("b", layerOf("MaxPooling2D", "a", `"data_format":"channels_first"`, "in"),
			layerOf("MaxPooling2D", "b", `"data_format":"channels_last"`, "a")), "keeps channels first, layer b last"},

		{functional("a", layerOf("ReLU", "a", `"max_value":{"type":"ndarray","value":"x"}`, "in")), "want a number"},
		{functional("a", layerOf("Rescaling", "a", `"scale":[1,2,3]`, "in")), "for 2 channels"},
		{functional("a", layerOf("Conv2DTranspose", "a", `"filters":2,"kernel_size":2,"output_padding":[1,1]`, "in")),
			"another size than the one that follows from padding"},
		{functional("a", strings.Replace(layerOf("ReLU", "a", ``, "in"), `[[["in",0,0,{}]]]`,
			`[{"args":[{"class_name":"__keras_tensor__","config":{"keras_history":["in",0,0]}}],"kwargs":{"training":true}}]`,
			1)), "training=True"},
		{functional("a", layerOf("GRU", "a", `"units":3`, "in")), "a (GRU: recurrent)"},
		{functional("a", layerOf("Conv3D", "a", `"filters":3`, "in")), "a (Conv3D: 3D)"},
		{functional("a", layerOf("Embedding", "a", `"input_dim":3`, "in")), "a (Embedding: embedding)"},

		// In these descriptions only some layers fit a wrapper.
		{replicated(goodCalls, goodJoin, relu), "r (Activation)"},
		{replicated(goodCalls, goodJoin, secondModel), "u (Model)"},
		{replicated(goodCalls, goodJoin, layerOf("Lambda", "h", `"arguments":{"i":0}`, "in")), "h (Lambda)"},
		{replicated(goodCalls, goodJoin, layerOf("Concatenate", "d", ``, "in")), "d (Concatenate)"},
		{replicated(goodCalls, goodJoin, layerOf("Concatenate", "d", `"axis":1`, "in")), "d (Concatenate)"},
		{replicated(goodCalls, goodJoin, layerOf("Softmax", "d", `"axis":0`, "in")), "d (Softmax)"},
		{replicated(`[["l1",0,0,{}]]`, goodJoin), "is called 1 times"},
		{replicated(`[["l2",0,0,{}]],[["l1",0,0,{}]]`, goodJoin), "not part 0 of 2"},
		{replicated(`[["l1",0,0,{}]],[["in",0,0,{}]]`, goodJoin), "takes in, which is not part 1"},
		{replicated(`[["l1",0,0,{}]],[["l2",0,0,{}],["l2",0,0,{}]]`, goodJoin), "takes 2 inputs, want 1"},
		{replicated(goodCalls, `["t",2,0,{}],["t",1,0,{}]`), "operand 0 of c"},
		{replicated(goodCalls, `["t",1,0,{}]`), "does not join 2 results"},
		{functional("l1", cutter("l1", 0, 2)), "no model inside"},
		{strings.Replace(replicated(goodCalls, goodJoin), `"output_layers":[["c",0,0]]`,
			`"output_layers":[["t",1,0]]`, 1), "output 0 does not join"},
		{strings.Replace(replicated(goodCalls, goodJoin), `[["c",0,0]]`, `[["c",0,0],["c",0,0]]`, 1), "2 outputs"},
		{strings.Replace(replicated(goodCalls, goodJoin), `"Concatenate","name":"c","config":{"axis":0}`,
			`"Lambda","name":"c","config":{"arguments":{"i":0,"parts":2}}`, 1), "output 0 does not join"},
	} {
		err := build1(c.config)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%.300s: %v", c.config, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.600s: got error %v, want %q", c.config, err, c.want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(functional("r", layerOf("Activation", "r", `"activation":"relu"`, "in")))
	f.Add(replicated(goodCalls, goodJoin))
	f.Add(functional("b", layerOf("MaxPooling2D", "a", `"pool_size":[2,2],"padding":"same"`, "in"),
		layerOf("Flatten", "f", ``, "a"), layerOf("Reshape", "b", `"target_shape":[4,-1]`, "f")))
	f.Add(`{"class_name":"Sequential","config":[{"class_name":"Permute","config":{"name":"a","dims":[2,1],"batch_input_shape":[null,3,4]}}]}`)
	f.Fuzz(func(t *testing.T, config string) { build1(config) })
}
