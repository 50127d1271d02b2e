package graph

import (
	"fmt"
	"testing"
)

func TestEnding(t *testing.T) {
	for lines, want := range map[string]string{
		"y = relu(x)":                                 "- y",
		"y = softmax(x)":                              "softmax x",
		"y = softmax(x, axis=1)":                      "- y",
		"y = softmax(x, axis=2)":                      "- y",
		"y = log_softmax(x)":                          "log_softmax x",
		"y = log_softmax(x, axis=1)":                  "- y",
		"y = sigmoid(x)":                              "sigmoid x",
		"y = hard_sigmoid(x)":                         "hard_sigmoid x",
		"s = sigmoid(x)\ny = affine(s, by=2)":         "- y",
		"s = softmax(x)\ny = reshape(s, shape=[3,4])": "softmax x",
		"s = softmax(x)\ny = reshape(s, shape=[12])":  "- y", // classes and places share an axis
		"s = softmax(x)\ny = reshape(s, shape=[6,2])": "- y",
		"r = reshape(x, shape=[1,12])\ns = softmax(r, axis=1)\ny = reshape(s, shape=[12])": "softmax r",
		"r = reshape(x, shape=[2,6])\ns = softmax(r, axis=1)\ny = reshape(s, shape=[12])":  "- y",
		"s = softmax(x)\ny = transpose(s, perm=[1,2,0])":                                   "- y",
		"s = sigmoid(x)\ny = reshape(s, shape=[12])":                                       "sigmoid x",
		"s = softmax(x)\ny = gather(s, replicas=2)":                                        "softmax x",
		"s = softmax(x)\ng = gather(s, replicas=2)\ny = relu(g)":                           "- y",
	} {
		g, err := ParseGraph(fmt.Appendf(nil,
			"bnctl graph 1\ngraph \"g\"\nfunc main(x rows f32[3,2,2]) {\n%s\nreturn y rows = y\n}\n", lines))
		if err != nil {
			t.Fatalf("%q: %v", lines, err)
		}
		op, v := g.Main.OutputOp(0)
		got := "-"
		if op != 0 {
			got = op.String()
		}
		if got += " " + g.Main.Values[v].Name; got != want {
			t.Errorf("%q ends in %s, want %s", lines, got, want)
		}
	}
}
