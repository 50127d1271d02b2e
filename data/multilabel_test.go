package data

import (
	"math"
	"slices"
	"testing"
)

// The labels of classes that do not exclude each other are 1, 0, or -1 if the label is unknown.
func TestCSVOfSeveralLabels(t *testing.T) {
	want := []int32{1, 1, 0, 1, 0, 0, -1, -1} // labels of cat and dog
	for name, table := range map[string]string{
		"lists":             "path,labels\n0.png,dog;cat\n1.png,dog\n2.png,;\n3.png,\n",
		"lists in quotes":   "path;labels\n0.png;\"cat; dog\"\n1.png;\"dog;\"\n2.png;\";\"\n3.png;\n",
		"columns":           "path,cat,dog\n0.png,1,1\n1.png,0,1\n2.png,0,0\n3.png,,\n",
		"columns as floats": "path,cat,dog\n0.png,1.0,1.0\n1.png,0.0,1.0\n2.png,0,0.0\n3.png,,\n",
	} {
		src := open(t, tableOf(t, "", table), Options{})
		var got []int32
		for i := range src.Info().Len {
			got = append(got, label(t, src, i)...)
		}
		if i := src.Info(); !i.MultiLabel || !slices.Equal(i.LabelShape, []int{2}) ||
			!slices.Equal(i.Classes, []string{"cat", "dog"}) || !slices.Equal(got, want) {
			t.Errorf("%s: classes %v, labels %v of shape %v, want %v", name, i.Classes, got, i.LabelShape, want)
		}
		r, err := Survey(t.Context(), src)
		if err != nil || r.PerClass["cat"] != 1 || r.PerClass["dog"] != 2 || r.Unlabelled != 2 {
			t.Errorf("%s: %v, %v ignored, %v", name, r.PerClass, r.Unlabelled, err)
		}
	}
}

// If a table has a column for each class, and each row has exactly one class, classes exclude each other.
func TestCSVOfOneLabelEach(t *testing.T) {
	if i := open(t, tableOf(t, "", "path,cat,dog\n0.png,1,0\n1.png,0,1\n"), Options{}).Info(); i.MultiLabel {
		t.Error("labels that exclude each other are taken for others")
	}
}

// If a table has lists of labels, a sample has only the classes in its list, and all other classes are
// absent. If a table has a column for each class, a class without a column is unknown.
func TestRelabelSeveral(t *testing.T) {
	names := []string{"dog", "eel", "cat"}
	for table, want := range map[string][]int32{
		"path,labels\n0.png,dog;cat\n1.png,dog\n2.png,;\n3.png,\n":            {1, 0, 1, 1, 0, 0, 0, 0, 0, -1, -1, -1},
		"path,cat,dog\n0.png,1,1\n1.png,0,1\n2.png,0,0\n3.png,,\n":            {1, -1, 1, 1, -1, 0, 0, -1, 0, -1, -1, -1},
		"path,cat,dog,eel\n0.png,1,1,0\n1.png,0,1,0\n2.png,0,0,0\n3.png,,,\n": {1, 0, 1, 1, 0, 0, 0, 0, 0, -1, -1, -1},
	} {
		src := open(t, tableOf(t, "", table), Options{})
		to := make([]int, len(src.Info().Classes))
		for i, name := range src.Info().Classes {
			to[i] = slices.Index(names, name)
		}
		other := Relabel(src, to, names)
		var got []int32
		for i := range other.Info().Len {
			got = append(got, label(t, other, i)...)
		}
		if !slices.Equal(got, want) || !slices.Equal(other.Info().LabelShape, []int{3}) {
			t.Errorf("%q: %v of shape %v, want %v", table, got, other.Info().LabelShape, want)
		}
	}
	joined := open(t, tableOf(t, "", "path,labels\n0.png,dog;cat\n")+"++"+
		tableOf(t, "", "path,labels\n1.png,eel;dog\n"), Options{})
	if got := append(slices.Clone(label(t, joined, 0)), label(t, joined, 1)...); !slices.Equal(got,
		[]int32{1, 1, 0, 0, 1, 1}) {
		t.Errorf("joined: %v of %v", got, joined.Info().Classes)
	}
}

func TestCSVOfNumbers(t *testing.T) {
	src := open(t, tableOf(t, "", "path,age,height\n0.png,3,-1e-3\n1.png,,2.5\n2.png,5,2.5\n"),
		Options{Columns: "target=height,target=age"})
	if i := src.Info(); !slices.Equal(i.Targets, []string{"height", "age"}) || i.Classes != nil {
		t.Errorf("targets %v, classes %v", i.Targets, i.Classes)
	}
	var got []float32
	for i := range src.Info().Len {
		for _, bits := range label(t, src, i) {
			got = append(got, Number(bits))
		}
	}
	want := []float32{-1e-3, 3, 2.5, float32(math.NaN()), 2.5, 5}
	if !slices.EqualFunc(got, want, func(a, b float32) bool { return a == b || a != a && b != b }) {
		t.Errorf("%v, want %v", got, want)
	}
	all, err := DescribeTargets(t.Context(), src)
	if err != nil || all[1] != (Target{"age", 2, 4, 1, 3, 5}) {
		t.Errorf("%+v, %v", all, err)
	}
}
