package models_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

const packed = `bnctl graph 1
graph "two"

func main(inputs rows f32[5]) {
  a.flat = slice(inputs, begin=[0], end=[4])
  a = reshape(a.flat, shape=[2,2])
  b = slice(inputs, begin=[4], end=[5])
  y = mul(a, b)
  return y rows = y
}
`

// twoFields returns a model with the inputs a, f32[2,2], and b, a scalar of type b.
func twoFields(t *testing.T, b tensor.DType) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(packed))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	m.Fields = []models.Field{{Name: "a", DType: tensor.F32, Shape: []int{2, 2}}, {Name: "b", DType: b}}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return m
}

// A row holds the fields one after another.
func TestPack(t *testing.T) {
	m := twoFields(t, tensor.I64)
	x, err := m.Pack([]tensor.Tensor{tensor.Of([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2),
		tensor.Of([]int64{-9, 16777216}, 2)})
	if err != nil || !slices.Equal(x.F32(), []float32{1, 2, 3, 4, -9, 5, 6, 7, 8, 16777216}) {
		t.Errorf("%v %v, %v", x, x.F32(), err)
	}
	if got, want := m.DescribeInputs(), "a f32[2,2], b i64[]"; got != want {
		t.Errorf("inputs %q, want %q", got, want)
	}
}

// Pack refuses numbers that the type of the input or float32 cannot represent, other
// shapes, and different numbers of rows.
func TestPackRefuses(t *testing.T) {
	a := tensor.New(tensor.F32, 2, 2, 2)
	truth := tensor.New(tensor.Bool, 2)
	truth.Bytes[1] = 1
	for _, c := range []struct {
		dtype tensor.DType
		a, b  tensor.Tensor
		want  string
	}{
		{tensor.I64, a, tensor.Of([]int64{1, 16777217}, 2), `input "b": number 1 of i64[2] is beyond float32`},
		{tensor.F32, a, tensor.Of([]float64{1, 1e39}, 2), `number 1 of f64[2] is beyond float32`},
		{tensor.F32, a, tensor.Of([]float64{1, 0.1}, 2), ""}, // floats may be rounded
		{tensor.I64, a, tensor.Of([]float32{1, 1.5}, 2), `input "b": number 1 is 1.5, and the model takes i64`},
		{tensor.U8, a, tensor.Of([]int64{255, 256}, 2), `number 1 is 256, and the model takes u8`},
		{tensor.U8, a, tensor.Of([]int64{-1, 0}, 2), `number 0 is -1, and the model takes u8`},
		{tensor.I8, a, tensor.Of([]int64{-128, 128}, 2), `number 1 is 128`},
		{tensor.Bool, a, tensor.Of([]int64{1, 2}, 2), `number 1 is 2, and the model takes bool`},
		{tensor.Bool, a, truth, ""},
		{tensor.F32, a, tensor.New(tensor.F32, 3), `input "b" has 3 rows, and input "a" has 2`},
		{tensor.F32, a, tensor.New(tensor.F32, 2, 1), `input "b" is f32[2,1]; the model takes f32[N]`},
		{tensor.F32, tensor.New(tensor.F32, 2, 4), a, `input "a" is f32[2,4]; the model takes f32[N,2,2]`},
	} {
		_, err := twoFields(t, c.dtype).Pack([]tensor.Tensor{c.a, c.b})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v of %v: got error %v, want %q", c.b, c.dtype, err, c.want)
		}
	}
	if _, err := twoFields(t, tensor.F32).Pack([]tensor.Tensor{a}); err == nil {
		t.Error("one input of two is accepted")
	}
}

// Fields that do not fill the input of the graph are refused: a file may be hostile.
func TestFieldsAreChecked(t *testing.T) {
	field := func(name string, d tensor.DType, shape ...int) models.Field {
		return models.Field{Name: name, DType: d, Shape: shape}
	}
	a := field("a", tensor.F32, 4)
	for want, fields := range map[string][]models.Field{
		"has 1, want 2 or more":           {field("a", tensor.F32, 5)},
		`two inputs are called "a"`:       {a, field("a", tensor.F32)},
		"an input has no name":            {a, field("", tensor.F32)},
		"has type f64":                    {a, field("b", tensor.F64)},
		"its inputs have 6 numbers":       {a, field("b", tensor.F32, 2)},
		"of shape [0] has no elements":    {field("a", tensor.F32, 5), field("b", tensor.F32, 0)},
		`input "b":`:                      {a, field("b", tensor.F32, -1)},
		`input "b": tensor shape`:         {a, field("b", tensor.F32, 1<<40, 1<<40)},
		"list of inputs has 0, want 2 or": {},
	} {
		m := twoFields(t, tensor.F32)
		if m.Fields = fields; len(fields) == 0 {
			m.Fields = []models.Field{}
		}
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got error %v, want %q", fields, err, want)
		}
	}
}

// The integers of a random input are in the range of every mask and table.
func TestRandomFields(t *testing.T) {
	m := twoFields(t, tensor.I64)
	x, err := models.RandomInput(m, 50)
	if err != nil {
		t.Fatal(err)
	}
	ones := 0
	for i := range 50 {
		switch v := x.F32()[5*i+4]; v {
		case 1:
			ones++
		case 0:
		default:
			t.Errorf("row %d has %g", i, v)
		}
		if v := x.F32()[5*i]; v == 0 || v == 1 {
			t.Errorf("row %d begins with %g", i, v)
		}
	}
	if ones < 10 || ones > 40 {
		t.Errorf("%d of 50 are 1", ones)
	}
}
