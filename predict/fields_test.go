package predict

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// product returns a model that multiplies its inputs a, f32[2,2], and rate, a whole number.
func product(t *testing.T) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "product"

func main(inputs rows f32[5]) {
  a.flat = slice(inputs, begin=[0], end=[4])
  a = reshape(a.flat, shape=[2,2])
  rate = slice(inputs, begin=[4], end=[5])
  y = mul(a, rate)
  return y rows = y
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	m.Fields = []models.Field{{Name: "a", DType: tensor.F32, Shape: []int{2, 2}}, {Name: "rate", DType: tensor.I64}}
	return m
}

// arrayFile writes x as .npy and returns its path.
func arrayFile(t *testing.T, name string, x tensor.Tensor) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err == nil {
		err = data.WriteNPY(f, x)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A model with several inputs predicts rows of all of them, on any devices and in any batch.
func TestSeveralInputs(t *testing.T) {
	m := product(t)
	a := arrayFile(t, "a.npy", tensor.Of([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 2, 2))
	rate := arrayFile(t, "rate.npy", tensor.Of([]int64{1, 10, -2}, 3))
	want := []float32{1, 2, 3, 4, 50, 60, 70, 80, -18, -20, -22, -24}
	for _, inputs := range [][]string{{"a=" + a, "rate=" + rate}, {"rate=" + rate, "a=" + a},
		{zipped(t, a, rate)}} {
		for _, devices := range []string{"ref", "cpu", "2xcpu"} {
			if got := predicted(t, m, inputs, devices); !slices.Equal(got, want) {
				t.Errorf("%v on %s: %v, want %v", inputs, devices, got, want)
			}
		}
	}
}

// zipped puts .npy files into an .npz file, with an array that no input has.
func zipped(t *testing.T, files ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(filepath.Base(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := z.Create("other.npy"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func predicted(t *testing.T, m *models.Model, inputs []string, devices string) (all []float32) {
	t.Helper()
	in, err := OpenInputs(t.Context(), m, inputs, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := Open(t.Context(), in.Model, Options{Fleet: fleet.Options{Devices: devices}, Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = p.All(t.Context(), in.Source, Reading{}, func(_ int, outs []tensor.Tensor) error {
		all = append(all, outs[0].F32()...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// An array of the shape of a sample is one sample.
func TestOneSampleOfSeveralInputs(t *testing.T) {
	a := arrayFile(t, "a.npy", tensor.Of([]float32{1, 2, 3, 4}, 2, 2))
	rate := arrayFile(t, "rate.npy", tensor.Scalar(float32(3)))
	got := predicted(t, product(t), []string{"a=" + a, "rate=" + rate}, "ref")
	if want := []float32{3, 6, 9, 12}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Inputs that are missing, unknown, given twice or of another number of rows are refused with the
// inputs of the model.
func TestSeveralInputsBad(t *testing.T) {
	a := arrayFile(t, "a.npy", tensor.New(tensor.F32, 3, 2, 2))
	rate, short := arrayFile(t, "r.npy", tensor.New(tensor.F32, 3)), arrayFile(t, "s.npy", tensor.New(tensor.F32, 2))
	const inputs = "model product has 2 inputs: a f32[2,2], rate i64[]"
	for _, c := range []struct {
		given []string
		wants []string
	}{
		{[]string{"a=" + a}, []string{"input rate is missing", inputs, "give a=a.npy rate=b.npy, or one .npz file"}},
		{[]string{a}, []string{"does not say which input it is", inputs}},
		{[]string{"a=" + a, "x=" + rate}, []string{"names no input of the model", inputs}},
		{[]string{"a=" + a, "a=" + a}, []string{"input a is given twice", inputs}},
		{[]string{"a=" + a, "rate=" + short}, []string{`input "rate" has 2 rows, and input "a" has 3`, "same number"}},
		{[]string{"a=" + rate, "rate=" + rate}, []string{`input "a" is f32[3]; the model takes f32[N,2,2]`}},
		{[]string{"a=" + a, "rate=none.npy"}, []string{"input rate: none.npy", "no such file"}},
		{[]string{zipped(t, a)}, []string{"input rate is missing", inputs}},
		{[]string{"glyphs:3"}, []string{"does not say which input it is"}},
	} {
		_, err := OpenInputs(t.Context(), product(t), c.given, true, nil)
		for _, want := range c.wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: got error %v, want %q", c.given, err, want)
			}
		}
	}
}
