package wire

import (
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// counting returns a function that exchanges the moments m of rows of 3 channels of 2 pixels. Its
// outputs are the exchanged moments, the moments of each replica, and the number of correct labels.
func counting(t *testing.T) *graph.Function {
	b := graph.NewBuilder("train", &[]graph.State{})
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3, 2}})
	labels := b.Input("labels", graph.Type{Kind: graph.Rows, DType: tensor.I32, Shape: []int{2}})
	m := b.Op(graph.Moments, "m", []graph.Value{x})
	b.Output("merged", b.Op(graph.AllReduce, "m.all", []graph.Value{m}, "of", "moments"), false)
	b.Output("m", m, false)
	b.Output("correct", b.Op(graph.Correct, "correct", []graph.Value{x, labels}), false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// part returns the partial value of a node with moments that count n values. If n is negative, the value
// is absent.
func part(from, to int, n float64) collective.Partial {
	p := collective.Partial{Node: collective.Node{From: from, To: to}}
	if !(n < 0) {
		p.Value = tensor.New(tensor.F64, 7)
		p.Value.F64()[0] = n
	}
	return p
}

var tagged = collective.Tag{Step: 1, Name: "m", Lane: collective.Gradients}

// TestPartsAreHeldAgainstTheRows checks a device with replicas 2, 3 and 5 of 5, 0 and 1 rows. It
// must send the partial values of the replicas that have rows, and moments that count 2 values per
// row.
func TestPartsAreHeldAgainstTheRows(t *testing.T) {
	for _, c := range []struct {
		parts []collective.Partial
		says  string
	}{
		{[]collective.Partial{part(2, 4, 10), part(5, 6, 2)}, ""},
		{[]collective.Partial{part(2, 4, -1), part(5, 6, 2)}, "replicas 2 to 3 came as absent; they have 5 rows"},
		{[]collective.Partial{part(2, 4, 10), part(5, 6, -1)}, "replicas 5 to 5 came as absent; they have 1 rows"},
		{[]collective.Partial{part(2, 4, 8), part(5, 6, 2)}, "replicas 2 to 3 counts 8 values; due are 10"},
		{[]collective.Partial{part(2, 4, math.NaN()), part(5, 6, 2)}, "counts NaN values; due are 10"},
	} {
		progress := ScheduleOf(counting(t)).Begin(1)
		progress.SetReplicas([]int{2, 3, 5}, []int{5, 0, 1})
		v := collective.Reduction{Op: collective.MergeMoments, Result: tensor.New(tensor.F64, 7), Partials: c.parts}
		err := progress.Next(tagged, []collective.Reduction{v})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	progress := ScheduleOf(counting(t)).Begin(1)
	progress.SetReplicas([]int{0, 1}, []int{0, 0})
	v := collective.Reduction{Op: collective.MergeMoments, Result: tensor.New(tensor.F64, 7),
		Partials: []collective.Partial{part(0, 2, 0)}}
	err := progress.Next(tagged, []collective.Reduction{v})
	if want := "due is an absent part, since they have no rows"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestOutputsAreHeldAgainstTheRows(t *testing.T) {
	rows := []int{3, 0}
	for _, c := range []struct {
		n            float64
		hits, labels float64
		says         string
	}{
		{6, 4, 6, ""},
		{6, 0, 0, ""}, // all labels are ignored
		{5, 4, 6, "output m: replica 0 of 3 rows counts 5 values; due are 6"},
		{6, 7, 6, "output correct: replica 0 of 3 rows has 7 hits among 6 labels; there are at most 6"},
		{6, 1, 7, "has 1 hits among 7 labels"},
		{6, math.NaN(), 6, "has NaN hits"},
	} {
		m, correct := tensor.New(tensor.F64, 2, 7), tensor.New(tensor.F64, 2, 2)
		m.F64()[0], correct.F64()[0], correct.F64()[1] = c.n, c.hits, c.labels
		err := CountsOf(counting(t)).Check([]tensor.Tensor{tensor.New(tensor.F64, 7), m, correct}, rows)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
