package keras

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// layersOf describes a functional model of an input of a shape and a sequence of layers, as
// Keras 2.15 writes it: "CLASS|NAME|CONFIG", followed by "|ARGUMENTS" for an OpLambda.
func layersOf(shape string, layers ...string) json.RawMessage {
	all := []string{`{"class_name":"InputLayer","name":"x","config":{"name":"x","batch_input_shape":` + shape +
		`,"dtype":"float32"},"inbound_nodes":[]}`}
	last := "x"
	for _, l := range layers {
		part := strings.SplitN(l, "|", 4)
		call := fmt.Sprintf(`[[[%q,0,0,{}]]]`, last)
		if len(part) == 4 {
			call = fmt.Sprintf(`[[%q,0,0,%s]]`, last, part[3])
		}
		all = append(all, fmt.Sprintf(`{"class_name":%q,"name":%q,"config":{"name":%q%s},"inbound_nodes":%s}`,
			part[0], part[1], part[1], part[2], call))
		last = part[1]
	}
	return json.RawMessage(fmt.Sprintf(`{"class_name":"Functional","config":{"name":"m","layers":[%s],`+
		`"input_layers":[["x",0,0]],"output_layers":[[%q,0,0]]}}`, strings.Join(all, ","), last))
}

// TestPreprocessing compares layers and functions that scale and normalise pixels with
// results computed by hand. The picture is 2x2 with 2 channels, last.
func TestPreprocessing(t *testing.T) {
	x := numbers{[]int{1, 2, 2, 2}, []float64{0, 10, 2, 20, 4, 30, 6, 40}}
	picture := "[null,2,2,2]"
	for _, c := range []struct {
		name    string
		layers  []string
		weights map[string]map[string]numbers
		shape   []int
		want    []float64
	}{
		{"Normalization by its configuration", []string{
			`Normalization|n|,"axis":-1,"mean":[1,10],"variance":[4,100]`}, nil,
			[]int{1, 2, 2, 2}, []float64{-0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3}},
		{"Normalization by adapt", []string{`Normalization|n|,"axis":[-1],"mean":null,"variance":null`},
			map[string]map[string]numbers{"n": {"mean": {[]int{2}, []float64{1, 10}},
				"variance": {[]int{2}, []float64{4, 100}}, "count": {nil, []float64{4}}}},
			[]int{1, 2, 2, 2}, []float64{-0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3}},
		{"Normalization of all, back", []string{
			`Normalization|n|,"axis":null,"mean":1,"variance":4,"invert":true`}, nil,
			[]int{1, 2, 2, 2}, []float64{1, 21, 5, 41, 9, 61, 13, 81}},
		{"CenterCrop", []string{`CenterCrop|c|,"height":1,"width":1`}, nil, []int{1, 1, 1, 2}, []float64{0, 10}},
		// With half-pixel centres, two elements 0 and 2 become 0, 0.5, 1.5, 2.
		{"Resizing", []string{`Resizing|r|,"height":2,"width":4,"interpolation":"bilinear"`}, nil,
			[]int{1, 2, 4, 2}, []float64{0, 10, 0.5, 12.5, 1.5, 17.5, 2, 20, 4, 30, 4.5, 32.5, 5.5, 37.5,
				6, 40}},
		{"Resizing by nearest", []string{`Resizing|r|,"height":2,"width":4,"interpolation":"nearest"`}, nil,
			[]int{1, 2, 4, 2}, []float64{0, 10, 0, 10, 2, 20, 2, 20, 4, 30, 4, 30, 6, 40, 6, 40}},
		{"preprocess_input of tf", []string{
			`TFOpLambda|d|,"function":"math.truediv"|{"y":2,"name":null}`,
			`TFOpLambda|s|,"function":"math.subtract"|{"y":1.0,"name":null}`}, nil,
			[]int{1, 2, 2, 2}, []float64{-1, 4, 0, 9, 1, 14, 2, 19}},
		{"preprocess_input of caffe", []string{
			`SlicingOpLambda|g|,"function":"__operators__.getitem"|{"slice_spec":{"class_name":"__tuple__","items":` +
				`[{"class_name":"__ellipsis__"},{"start":null,"stop":null,"step":-1}]}}`,
			`TFOpLambda|b|,"function":"nn.bias_add"|{"bias":[-10,-1],"data_format":"channels_last"}`}, nil,
			[]int{1, 2, 2, 2}, []float64{0, -1, 10, 1, 20, 3, 30, 5}},
		{"LayerNormalization", []string{`LayerNormalization|l|,"axis":[-1],"epsilon":0.0`},
			map[string]map[string]numbers{"l": {"gamma": {[]int{2}, []float64{1, 2}},
				"beta": {[]int{2}, []float64{0, 5}}}},
			[]int{1, 2, 2, 2}, []float64{-1, 7, -1, 7, -1, 7, -1, 7}},
		{"GroupNormalization of each channel", []string{
			`GroupNormalization|g|,"groups":-1,"axis":-1,"epsilon":0,"scale":false,"center":false`}, nil,
			[]int{1, 2, 2, 2}, []float64{-1.3416408, -1.3416408, -0.4472136, -0.4472136, 0.4472136,
				0.4472136, 1.3416408, 1.3416408}},
		{"UnitNormalization", []string{`UnitNormalization|u|,"axis":-1`}, nil,
			[]int{1, 2, 2, 2}, []float64{0, 1, 0.0995037, 0.9950372, 0.1321637, 0.9912279, 0.1483405, 0.9889363}},
	} {
		d := drawn{Class: c.name, Axes: 3, Major: 2, Config: layersOf(picture, c.layers...), Weights: c.weights,
			X: x, Y: &numbers{c.shape, c.want}}
		m, err := d.build()
		if err == nil {
			err = d.check(m)
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestRefusedPreprocessing: steps that would need a guess are rejected by name.
func TestRefusedPreprocessing(t *testing.T) {
	for want, layer := range map[string]string{
		"want numbers":                      `Normalization|n|,"axis":-1,"mean":["a"],"variance":[1,1]`,
		"for 2 channels":                    `Normalization|n|,"axis":-1,"mean":[1,2,3],"variance":[1,1]`,
		"only the axis of the channels":     `Normalization|n|,"axis":1,"mean":[1,2],"variance":[1,1]`,
		"only smaller pictures are cropped": `CenterCrop|c|,"height":3,"width":1`,
		`interpolation is "lanczos3"`:       `Resizing|r|,"height":2,"width":4,"interpolation":"lanczos3"`,
		"antialias is true":                 `Resizing|r|,"height":2,"width":4,"antialias":true`,
		"tf.math.cumsum is not supported":   `TFOpLambda|d|,"function":"math.cumsum"|{}`,
		"only [..., ::-1]":                  `SlicingOpLambda|g|,"function":"__operators__.getitem"|{"slice_spec":[0]}`,
		"rms_scaling is true":               `LayerNormalization|l|,"axis":-1,"rms_scaling":true`,
		"in 3 groups":                       `GroupNormalization|g|,"groups":3,"axis":-1`,
	} {
		d := drawn{Major: 2, Config: layersOf("[null,2,2,2]", layer)}
		if _, err := d.build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", layer, err, want)
		}
	}
}
