package keras

import (
	"strings"
	"testing"
)

// TestActivationNames checks the nodes for names of activations and for functions of Keras
// 3 and TensorFlow.
func TestActivationNames(t *testing.T) {
	operation := func(class, config string) string {
		return strings.Replace(layerOf(class, "a", config, "in"), `"config"`, `"module":"keras.src.ops.nn","config"`, 1)
	}
	lambda := func(function, arguments string) string {
		return `{"class_name":"TFOpLambda","name":"a","config":{"name":"a","function":"` + function +
			`"},"inbound_nodes":[["in",0,0,{` + arguments + `}]]}`
	}
	for _, c := range []struct{ layer, want string }{
		{layerOf("Activation", "a", `"activation":"gelu"`, "in"), "gelu("},
		{layerOf("Activation", "a", `"activation":"mish"`, "in"), "mish("},
		{layerOf("Activation", "a", `"activation":"swish"`, "in"), "silu("},
		{operation("Gelu", `"approximate":true`), "gelu_tanh("}, {operation("Gelu", `"approximate":false`), "gelu("},
		{operation("Gelu", ``), "gelu_tanh("}, {operation("Mish", ``), "mish("}, {operation("Silu", ``), "silu("},
		{lambda("nn.gelu", `"approximate":false`), "gelu("}, {lambda("nn.gelu", `"approximate":true`), "gelu_tanh("},
		{lambda("nn.gelu", ``), "gelu("}, {lambda("math.erf", ``), "erf("}, {lambda("nn.softplus", ``), "softplus("},
		{lambda("math.erf", `"approximate":true`), "approximate is true"},
	} {
		b := &build{weights: weights{}, major: 2}
		n, err := parseModel([]byte(functional("a", c.layer)))
		if err == nil {
			err = n.checkLayers()
		}
		if err != nil {
			t.Fatalf("%s: %v", c.layer, err)
		}
		m, err := b.toModel(n)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = string(m.Graph.Text())
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s became\n%s\nwant %s", c.layer, got, c.want)
		}
	}
}
