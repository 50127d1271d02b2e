package keras

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestAttention compares the layer with its definition, softmax(q*k/sqrt(width))*v for each
// head. It tries all ways in which Keras writes query, value and key in a call.
func TestAttention(t *testing.T) {
	const positions, channels, heads, width, depth = 3, 2, 2, 3, 1
	at := func(seed, i int) float64 { return float64((i*7+seed*5)%9-4) / 8 }
	weight := func(seed int, shape ...int) numbers {
		n := numbers{Shape: shape}
		for i := range product(shape) {
			n.Data = append(n.Data, at(seed, i))
		}
		return n
	}
	w := map[string]numbers{
		"query_kernel": weight(1, channels, heads, width), "query_bias": weight(2, heads, width),
		"key_kernel": weight(3, channels, heads, width), "key_bias": weight(4, heads, width),
		"value_kernel": weight(5, channels, heads, depth), "value_bias": weight(6, heads, depth),
		"attention_output_kernel": weight(7, heads, depth, channels), "attention_output_bias": weight(8, channels)}
	x := weight(9, 2, positions, channels)
	y := numbers{Shape: x.Shape}
	for n := range 2 {
		y.Data = append(y.Data, attended(x.Data[n*positions*channels:], w, positions, channels, heads, width,
			depth)...)
	}
	const tensor = `{"class_name":"__keras_tensor__","config":{"keras_history":["in",0,0],"shape":[null,3,2]}}`
	for call, refused := range map[string]string{
		`[[["in",0,0,{"value":["in",0,0],"training":false}]]]`:                                                       "",
		`[[["in",0,0,{"value":["in",0,0],"key":["in",0,0],"attention_mask":null}]]]`:                                 "",
		`[[["in",0,0],["in",0,0]]]`:                                                                                  "",
		`[["in",0,0,{"value":["in",0,0]}]]`:                                                                          "",
		`[{"args":[` + tensor + `,` + tensor + `],"kwargs":{"query_mask":null}}]`:                                    "",
		`[{"args":[` + tensor + `],"kwargs":{"value":` + tensor + `,"key":` + tensor + `,"use_causal_mask":false}}]`: "",
		`[{"args":[` + tensor + `,` + tensor + `],"kwargs":{"use_causal_mask":true}}]`:                               "use_causal_mask",
		`[[["in",0,0,{"value":["in",0,0],"attention_mask":["in",0,0]}]]]`:                                            "attention_mask",
		`[[["in",0,0]]]`: "value is missing",
	} {
		config := fmt.Sprintf(`{"class_name":"Functional","config":{"name":"m","layers":[`+
			`{"class_name":"InputLayer","name":"in","config":{"name":"in","batch_shape":[null,3,2]},"inbound_nodes":[]},`+
			`{"class_name":"MultiHeadAttention","name":"a","config":{"name":"a","num_heads":2,"key_dim":3,`+
			`"value_dim":1,"dropout":0.1,"attention_axes":[1],"output_shape":null},"inbound_nodes":%s}],`+
			`"input_layers":[["in",0,0]],"output_layers":[["a",0,0]]}}`, call)
		d := drawn{Class: "MultiHeadAttention", Axes: 2, Major: 3, Config: json.RawMessage(config),
			Weights: map[string]map[string]numbers{"a": w}, X: x, Y: &y}
		m, err := d.build()
		switch {
		case refused != "":
			if err == nil || !strings.Contains(err.Error(), refused) {
				t.Errorf("%s: %v, want %s", call, err, refused)
			}
		case err != nil:
			t.Errorf("%s: %v", call, err)
		default:
			if err := d.check(m); err != nil {
				t.Errorf("%s: %v", call, err)
			}
		}
	}
}

func product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// attended computes the layer for one sample, by its definition.
func attended(x []float64, w map[string]numbers, positions, channels, heads, width, depth int) []float64 {
	part := func(name string, p, h, i, of int) float64 {
		sum := w[name+"_bias"].Data[h*of+i]
		for c := range channels {
			sum += float64(x[p*channels+c] * w[name+"_kernel"].Data[(c*heads+h)*of+i])
		}
		return sum
	}
	out := make([]float64, positions*channels)
	for p := range positions {
		copy(out[p*channels:], w["attention_output_bias"].Data)
		for h := range heads {
			shares, total := make([]float64, positions), 0.0
			for k := range shares {
				score := 0.0
				for i := range width {
					score += float64(part("query", p, h, i, width) * part("key", k, h, i, width))
				}
				shares[k] = math.Exp(score / math.Sqrt(float64(width)))
				total += shares[k]
			}
			for i := range depth {
				v := 0.0
				for k, s := range shares {
					v += float64(s / total * part("value", k, h, i, depth))
				}
				for c := range channels {
					out[p*channels+c] += float64(v * w["attention_output_kernel"].Data[(h*depth+i)*channels+c])
				}
			}
		}
	}
	return out
}
