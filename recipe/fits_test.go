package recipe

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Errors have advice about masks only if the data has masks and the model does not give each pixel a
// class.
func TestAdviceOnLabels(t *testing.T) {
	pixels := written(t, pixelGraph)
	whole := written(t, strings.NewReplacer("return scores rows = bn", "m = reduce_mean(bn, axes=[0,1])\n"+
		"  return scores rows = m").Replace(pixelGraph))
	for _, c := range []struct {
		model   *models.Model
		masks   bool
		label   []int
		advised bool
	}{{whole, true, nil, true}, {whole, false, []int{4, 5}, false}, {pixels, false, nil, false}} {
		info := data.Info{Kind: "npy", Len: 1, DType: tensor.U8, Shape: []int{4, 5, 3}, Labelled: true,
			LabelShape: c.label, Masks: c.masks, Classes: make([]string, 2)}
		err := fits("data", c.model, info)
		if err == nil || strings.Contains(err.Error(), "unet-bn") != c.advised {
			t.Errorf("masks %v, labels %v: %v", c.masks, c.label, err)
		}
	}
}

func TestFits(t *testing.T) {
	table, pixels := written(t, tableGraph), written(t, pixelGraph)
	info := func(d tensor.DType, shape, label []int, classes int) data.Info {
		return data.Info{Kind: "npy", Len: 1, DType: d, Shape: shape, Labelled: true, LabelShape: label,
			Classes: make([]string, classes)}
	}
	plain := written(t, strings.NewReplacer("u8[4,5,3]", "f32[3,4,5]", "  image = image(x)\n", "", "conv(image,",
		"conv(x,").Replace(pixelGraph))
	whole := written(t, strings.NewReplacer("return scores rows = bn", "m = reduce_mean(bn, axes=[0,1])\n"+
		"  return scores rows = m").Replace(pixelGraph))
	masks := info(tensor.U8, []int{9, 9, 3}, nil, 2)
	masks.Masks = true
	none := info(tensor.F32, []int{4}, nil, 3)
	none.Len = 0
	unlabelled := info(tensor.F32, []int{4}, nil, 0)
	unlabelled.Labelled = false
	for _, c := range []struct {
		model *models.Model
		info  data.Info
		err   string
	}{
		{table, info(tensor.F32, []int{4}, nil, 3), ""},
		{table, info(tensor.F32, []int{4}, nil, 2), ""},
		{table, unlabelled, "no labels"}, {table, none, "has no samples"},
		{plain, info(tensor.U8, []int{9, 9, 3}, []int{4, 5}, 2), "takes arrays f32[3,4,5]"},
		{pixels, masks, ""}, {whole, masks, "use a model that gives each pixel a class"},
		{table, info(tensor.F32, []int{5}, nil, 3), "takes f32[4], a sample of npy is f32[5]"},
		{table, info(tensor.U8, []int{4, 4, 3}, nil, 3), "takes arrays f32[4]"},
		{table, info(tensor.F32, []int{4}, nil, 4),
			"has 4 classes, model table has 3; make a new head with classes 4"},
		{table, info(tensor.F32, []int{4}, []int{2}, 3), "a label has to be i32[], those of npy are i32[2]"},
		{pixels, info(tensor.U8, []int{9, 9, 1}, []int{4, 5}, 2), ""},
		{pixels, info(tensor.U8, []int{9, 9, 1}, nil, 2), "a label has to be i32[4,5], those of npy are i32[]"},
	} {
		err := fits("data", c.model, c.info)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("model %s, %+v: error %v, want %q", c.model.Architecture, c.info, err, c.err)
		}
	}
}

// painting is data with some description.
type painting struct {
	data.Source
	info data.Info
}

func (p painting) Info() data.Info { return p.info }

// TestFitsBoth checks that training and validation data are examined, and that errors name the option.
func TestFitsBoth(t *testing.T) {
	m := written(t, tableGraph)
	fine := painting{info: data.Info{Kind: "npy", Len: 1, DType: tensor.F32, Shape: []int{4}, Labelled: true}}
	odd := painting{info: data.Info{Kind: "npy", Len: 1, DType: tensor.F32, Shape: []int{5}, Labelled: true}}
	for _, c := range []struct {
		training, validation data.Source
		want                 string
	}{
		{nil, nil, "data: "}, {fine, nil, ""}, {odd, nil, "data: "}, {odd, fine, "data: "}, {fine, odd, "val: "},
		{fine, fine, ""},
	} {
		err := Fits(m, c.training, c.validation)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if err := (&Recipe{AuxWeight: 0.4}).CheckAuxiliary(m.Graph, nil); err == nil {
		t.Error("a head that is not there has a weight")
	}
}

// TestAuxiliary: an auxiliary head without a weight for its loss would not be trained, so it is refused, and
// the error names the option. If the whole head is frozen, it is accepted.
func TestAuxiliary(t *testing.T) {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "two"
state fc.weight f32[3,4] weight he_normal(0)
state side.weight f32[3,4] weight he_normal(0)
func main(x rows f32[4]) {
  y = dense(x, @fc.weight)
  s = dense(x, @side.weight)
  return logits rows = y
  return aux rows = s
}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		weight  float64
		trained []string
		want    string
	}{
		{0, []string{"fc.weight", "side.weight"},
			"aux-weight: model two has the output aux, an auxiliary head, and " +
				"side.weight influences nothing else"},
		{0, []string{"fc.weight"}, ""}, {0.4, []string{"fc.weight", "side.weight"}, ""},
	} {
		err := (&Recipe{AuxWeight: c.weight}).CheckAuxiliary(g, c.trained)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("weight %g, %v trained: %v, want %q", c.weight, c.trained, err, c.want)
		}
	}
}

// TestMoving checks that the statistics of batch norms with frozen gammas and betas still
// move, unless the statistics are frozen too.
func TestMoving(t *testing.T) {
	m, err := models.Build("resnet20", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		freeze []string
		mode   bn.Mode
		want   string
	}{
		// A stage of resnet20 has three blocks of two batch norms. The first stage has no other batch norms.
		{[]string{"layer1.*"}, bn.Sync, "12 running statistics of 6 batch norms that {freeze} names still move"},
		{[]string{"*"}, bn.Replica, "38 running statistics of 19 batch norms"},
		{[]string{"layer1.*"}, bn.Frozen, ""}, {[]string{"fc.*"}, bn.Sync, ""}, {[]string{"*.conv1.*"}, bn.Sync,
			""},
		{nil, bn.Sync, ""},
	} {
		r := Recipe{Freeze: c.freeze, BN: c.mode}
		if got := r.MovingStatistics(m.Graph); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v, %s: %q, want %q", c.freeze, c.mode, got, c.want)
		}
	}
}
