package formats

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// rank writes the file of one rank.
func rank(t *testing.T, dir string, k int, weight, mean, variance float32) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("rank%d.pth", k))
	_, err := Save(path, []Tensor{
		InMemory("module.conv.weight", tensor.Of([]float32{weight}, 1)),
		InMemory("module.bn.weight", tensor.Of([]float32{1}, 1)),
		InMemory("module.bn.running_mean", tensor.Of([]float32{mean}, 1)),
		InMemory("module.bn.running_var", tensor.Of([]float32{variance}, 1)),
		InMemory("module.bn.num_batches_tracked", tensor.Scalar(int64(10+k))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRanks(t *testing.T) {
	dir := t.TempDir()
	paths := []string{rank(t, dir, 0, 5, 1, 2), rank(t, dir, 1, 5, 3, 4)}
	for _, c := range []struct {
		rule           bn.Rule
		mean, variance float32
	}{{bn.Pooled, 2, 4}, {bn.Mean, 2, 3}, {bn.First, 1, 2}} {
		f, err := OpenRanks(paths, Options{Merge: c.rule})
		if err != nil {
			t.Fatal(err)
		}
		norms, err := Norms(f)
		if err != nil || len(norms) != 1 {
			t.Fatalf("%v, %d norms", err, len(norms))
		}
		if m, v := norms[0].Mean.F32()[0], norms[0].Variance.F32()[0]; m != c.mean || v != c.variance {
			t.Errorf("%s: mean %g, variance %g, want %g and %g", c.rule, m, v, c.mean, c.variance)
		}
		if norms[0].Name != "bn" || norms[0].Updates != 10 {
			t.Errorf("%s: got layer %s with %d updates, want bn with those of rank 0", c.rule, norms[0].Name,
				norms[0].Updates)
		}
		f.Close()
	}
}

func TestRanksDiffer(t *testing.T) {
	dir := t.TempDir()
	nan := float32(math.NaN())
	for _, c := range []struct {
		weight float32
		want   string
	}{{6, "the weights differ in 1 of 5 tensors (conv.weight)"}, {nan, "the weights differ in 1 of 5 tensors"}} {
		_, err := OpenRanks([]string{rank(t, dir, 0, 5, 1, 2), rank(t, dir, 1, c.weight, 1, 2)}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("weight %g: got %v, want %q", c.weight, err, c.want)
		}
	}
}

// statisticsFile returns a file of one batch norm; changed tensors replace its default
// ones.
func statisticsFile(changed ...Tensor) *File {
	f := &File{Tensors: ones("w:2,2", "bn.weight:2", "bn.running_mean:2", "bn.running_var:2")}
	for _, c := range changed {
		for i, t := range f.Tensors {
			if t.Name == c.Name {
				f.Tensors[i] = c
			}
		}
	}
	return f
}

// TestMergeRanks rejects files of different steps and unreadable files. It checks that a
// merge is reported.
func TestMergeRanks(t *testing.T) {
	two := tensor.Of([]float32{3, 3}, 2)
	for _, c := range []struct {
		what string
		a, b *File
		want string
	}{
		{"another type", statisticsFile(), statisticsFile(InMemory("w", tensor.New(tensor.F64, 2, 2))), "w f32[2,2] has no counterpart"},
		{"another shape", statisticsFile(), statisticsFile(InMemory("w", tensor.New(tensor.F32, 4))), "w f32[2,2] has no counterpart"},
		{"another name", statisticsFile(), &File{Tensors: append(ones("v:2,2"), statisticsFile().Tensors[1:]...)},
			"w f32[2,2] has no counterpart"},
		{"fewer", statisticsFile(), &File{Tensors: statisticsFile().Tensors[1:]}, "4 tensors and 3"},
		{"weights of the first that are torn", statisticsFile(torn(t, "w", 2, 2)), statisticsFile(), "torn"},
		{"weights of the second that are torn", statisticsFile(), statisticsFile(torn(t, "w", 2, 2)), "torn"},
		{"statistics that are torn", statisticsFile(), statisticsFile(torn(t, "bn.running_var", 2)), "torn"},
		{"no variance", &File{Tensors: statisticsFile().Tensors[:3]}, &File{Tensors: statisticsFile().Tensors[:3]},
			"batch norm bn lacks its mean or its variance"},
		{"no mean", &File{Tensors: ones("bn.running_var:2")}, &File{Tensors: ones("bn.running_var:2")},
			"batch norm bn lacks its mean or its variance"},
		{"a graph", &File{Model: small(t)}, &File{}, "merged as tensors only"},
	} {
		err := mergeRanks([]*File{c.a, c.b}, []string{"a", "b"}, bn.Pooled)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
	}
	a, b := statisticsFile(), statisticsFile(InMemory("bn.running_mean", two))
	if err := mergeRanks([]*File{a, b}, []string{"a", "b"}, bn.Mean); err != nil {
		t.Fatal(err)
	}
	const want = "the statistics of 1 batch norm are those of 2 ranks, merged: mean"
	if len(a.Findings) != 1 || a.Findings[0].Text != want {
		t.Errorf("findings %+v, want %q", a.Findings, want)
	}
	alone := statisticsFile()
	if err := mergeRanks([]*File{alone}, []string{"a"}, bn.Mean); err != nil || len(alone.Findings) > 0 {
		t.Errorf("one rank: %v, %v", alone.Findings, err)
	}
}

// TestOpenRanksThatAreNotThere checks that the error names the missing file.
func TestOpenRanksThatAreNotThere(t *testing.T) {
	dir := t.TempDir()
	_, err := OpenRanks([]string{rank(t, dir, 0, 5, 1, 2), filepath.Join(dir, "none.pth")}, Options{})
	if err == nil || !strings.Contains(err.Error(), "none.pth") {
		t.Errorf("%v", err)
	}
}

// TestSome lists four names, and counts the rest.
func TestSome(t *testing.T) {
	for n, want := range map[int]string{1: "a", 4: "a, b, c, d", 5: "a, b, c, d and 1 more", 6: "a, b, c, d and 2 more"} {
		if got := firstNames([]string{"a", "b", "c", "d", "e", "f"}[:n]); got != want {
			t.Errorf("%d names: %s, want %s", n, got, want)
		}
	}
}

// TestReplicaOf finds the number of a replica at the end of a name, or inside it.
func TestReplicaOf(t *testing.T) {
	for in, want := range map[string]string{
		"a/b": "a/b 0", "a/replica_1": "a 1", "a/replica_12/b": "a/b 12", "a/replica_0": "a/replica_0 0",
		"a/replica_1x/b": "a/replica_1x/b 0",
	} {
		name, k := replicaOf(in)
		if got := fmt.Sprint(name, " ", k); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestReplicasThatDiffer checks that the error has the number of the replica, and the
// tensors that the first replica lacks.
func TestReplicasThatDiffer(t *testing.T) {
	f := &File{Tensors: ones("w:2", "w/replica_1:2", "v/replica_1:2", "u/replica_1:2")}
	err := mergeReplicas(f, bn.Pooled)
	if err == nil || err.Error() != "replica 0 and replica 1: 1 tensor and 3" {
		t.Errorf("more variables: %v", err)
	}
	f = &File{Tensors: append(ones("w:2", "w/replica_1:2"), InMemory("w/replica_2", tensor.Of([]float32{1, 2}, 2)))}
	err = mergeReplicas(f, bn.Pooled)
	if err == nil || !strings.HasPrefix(err.Error(), "replica 0 and replica 2: the weights differ in 1 of 1 tensor (w)") {
		t.Errorf("other weights: %v", err)
	}
	f = &File{Tensors: ones("w:2", "w/replica_2:2", "w/replica_3:2")}
	err = mergeReplicas(f, bn.Pooled)
	if err == nil || err.Error() != "there are variables of 2 more replicas, and none of replica 1" {
		t.Errorf("a replica is missing: %v", err)
	}
}

// TestReplicas reads a checkpoint of TensorFlow with the variables of two replicas.
func TestReplicas(t *testing.T) {
	f, err := Open("tensorflow/testdata/cases/replicas.index", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := ""
	for _, x := range f.Tensors {
		v, err := x.Load()
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintln(x, v.F32())
	}
	const want = `bn/moving_mean f32[2] [2 3]
bn/moving_variance f32[2] [2 2]
conv/kernel f32[1,2,2,3] [0 1 2 3 4 5 6 7 8 9 10 11]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := fmt.Sprint(f.Wrappers); got != "[replica_1]" {
		t.Errorf("wrappers %s", got)
	}
}
