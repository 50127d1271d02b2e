package formats

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestKerasAxes checks that a sample that is not a picture, and its result, have the file's
// order of axes, both in bnctl's model of the file and in the ONNX file made from that
// model. Both must compute the same.
func TestKerasAxes(t *testing.T) {
	for _, c := range []struct {
		file    string
		in, out []int
	}{
		{"flat", []int{6, 5}, []int{3}}, {"square", []int{4, 4}, []int{8, 4}},
		{"sequence", []int{7, 3}, []int{7, 4}}, {"box", []int{2, 3, 4, 5}, []int{3}},
		{"lines", []int{12, 5}, []int{6}}, {"base", []int{2, 8, 8}, []int{4}},
	} {
		f, err := Open("keras/testdata/"+c.file+".h5", Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Template(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), c.file+".onnx")
		if _, err := Export(path, m, ExportOptions{}); err != nil {
			t.Fatal(err)
		}
		again, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Template(again, nil)
		if err != nil {
			t.Fatal(err)
		}
		main := back.Graph.Main
		out := main.Values[main.Outputs[len(main.Outputs)-1].Value].Type.Shape
		if in := back.Input().Shape; !slices.Equal(m.Input().Shape, c.in) || !slices.Equal(in, c.in) ||
			!slices.Equal(out, c.out) {
			t.Errorf("%s takes %v, as ONNX %v, and gives %v, want %v and %v", c.file, m.Input().Shape, in, out,
				c.in, c.out)
		}
		if err := sameNumbers(outputs(t, back), outputs(t, m)); err != nil {
			t.Errorf("%s as ONNX: %v", c.file, err)
		}
	}
}
