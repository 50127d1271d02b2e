package onnx

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// tailArrays returns the sample and the outputs of ONNX Runtime for a case.
func tailArrays(t *testing.T, path string) (x tensor.Tensor, want map[string]tensor.Tensor) {
	t.Helper()
	all, err := data.ReadNPZFile(strings.TrimSuffix(path, ".onnx")+".npz", nil)
	if err != nil {
		t.Fatal(err)
	}
	want = map[string]tensor.Tensor{}
	for _, n := range all {
		if n.Name == "x" {
			x = n.Array
		} else {
			want[strings.TrimPrefix(n.Name, "=")] = n.Array
		}
	}
	return x, want
}

// twice returns a batch of two equal rows x.
func twice(x tensor.Tensor) tensor.Tensor {
	out := tensor.New(x.DType, append([]int{2}, x.Shape...)...)
	copy(out.Bytes, x.Bytes)
	copy(out.Bytes[len(x.Bytes):], x.Bytes)
	return out
}

// TestTails compares detectors that end in operators with results of any length with the
// outputs of ONNX Runtime, which testdata/make_tails.py stored. Each batch has two equal
// rows. The samples are computed by several goroutines at once.
func TestTails(t *testing.T) {
	files, err := filepath.Glob("testdata/tails/*.onnx")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, path := range files {
		m, err := opened(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if m.Tail == nil {
			t.Errorf("%s: has no tail", path)
			continue
		}
		x, want := tailArrays(t, path)
		outs, err := evalF32(m, twice(x))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { compareTail(t, path, m, outs, want) })
		}
		all.Wait()
	}
}

func compareTail(t *testing.T, path string, m *models.Model, outs []tensor.Tensor,
	want map[string]tensor.Tensor) {
	rows, err := m.FileRows(outs)
	if err != nil || len(rows) != 2 {
		t.Errorf("%s: %d rows, %v", path, len(rows), err)
		return
	}
	for i, row := range rows {
		for k, o := range m.Outputs() {
			w, got := want[o.Name], row[k]
			if n := len(w.Shape); n == len(got.Shape)+1 {
				w.Shape = w.Shape[1:] // without the batch axis of the file
			}
			if !slices.Equal(got.Shape, w.Shape) || got.DType != w.DType || got.DType != o.Type.DType {
				t.Errorf("%s row %d: output %s is %v (%v), want %v", path, i, o.Name, got, o.Type, w)
				continue
			}
			if !fitsShape(got.Shape, o.Type.Shape) {
				t.Errorf("%s: output %s is %v, declared %v", path, o.Name, got, o.Type)
			}
			if got.DType != tensor.F32 && !bytes.Equal(got.Bytes, w.Bytes) {
				t.Errorf("%s row %d: output %s is %v, want %v", path, i, o.Name, got.Bytes, w.Bytes)
			}
			if got.DType == tensor.F32 {
				for j, v := range got.F32() {
					if d := math.Abs(float64(v - w.F32()[j])); !(d <= 1e-5) {
						t.Fatalf("%s row %d: output %s[%d] is %g, want %g", path, i, o.Name, j, v, w.F32()[j])
					}
				}
			}
		}
	}
}

// fitsShape reports whether a shape has the declared lengths.
func fitsShape(shape, declared []int) bool {
	return slices.EqualFunc(shape, declared, func(n, d int) bool { return d == -1 || n == d })
}

// TestTailsAreNotWritten: writing a model with a tail is an error, because the file would
// lack the tail. FileOutputs returns an error if the results of the rows differ in length.
func TestTailsAreNotWritten(t *testing.T) {
	m, err := opened("testdata/tails/gathered.onnx")
	if err != nil {
		t.Fatal(err)
	}
	var p *problem.Error
	if err := Write(&bytes.Buffer{}, m); !errors.As(err, &p) || p.Advice == "" {
		t.Errorf("written: %v", err)
	}
	x, _ := tailArrays(t, "testdata/tails/gathered.onnx")
	x = twice(x)
	clear(x.Rows(1, 2).Bytes)
	outs, err := evalF32(m, x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.FileOutputs(outs); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("rows with different numbers of boxes: %v", err)
	}
	all, err := m.FileOutputs([]tensor.Tensor{outs[0].Rows(0, 1), outs[1].Rows(0, 1)})
	if err != nil || all[0].Shape[0] != 1 {
		t.Errorf("one row: %v", err)
	}
}

// TestNoTail: a file with a layer after an operator with results of any length is refused,
// and so is a file with an unknown operator.
func TestNoTail(t *testing.T) {
	for name, all := range map[string]nodes{
		"a convolution of boxes": {op("NonZero", "x", "i"), op("Cast", "i", "f", intAttr("to", 1)), op("Conv", "f w", "y")},
		"another refusal":        {op("Erf", "x", "e"), op("Shape", "e", "s"), op("MyOwn", "e", "y")},
	} {
		if f := readModel(t, modelOf(17, 0, []int64{4}, nil, all...)); f.NoModel == nil {
			t.Errorf("%s: no refusal", name)
		}
	}
}
