package formats

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Complete gives batch norms of a file a mean of 0 and a variance of 1 if their running statistics are
// missing or have the wrong shape. An architecture can then be applied before the statistics are estimated
// again. It returns the names of the tensors that it made. arch is the architecture, if it is known. If arch
// is nil, the missing statistics are derived from the tensors' names.
func Complete(f *File, arch *models.Model) []string {
	var made []string
	put := func(name string, shape []int, value float32) {
		t := InMemory(name, filled(shape, value))
		made = append(made, name)
		if i := slices.IndexFunc(f.Tensors, func(u Tensor) bool { return u.Name == name }); i >= 0 {
			f.Tensors[i] = t
			return
		}
		f.Tensors = append(f.Tensors, t)
	}
	for _, w := range wantedStatistics(f, arch) {
		if t, ok := f.Tensor(w.name); !ok || !slices.Equal(t.Shape, w.shape) {
			put(w.name, w.shape, w.value)
		}
	}
	return made
}

// IdentifyIncomplete does the same as Identify for a file with running statistics that are missing or
// have another shape: all other tensors must fit.
func IdentifyIncomplete(f *File) (*models.Model, error) {
	var found []*models.Model
	var names []string
	for _, a := range models.Architectures() {
		m, err := build(a, f.Tensors)
		if err != nil {
			return nil, err
		}
		whole := &File{Tensors: slices.Clone(f.Tensors)}
		Complete(whole, m)
		if compare(whole.Tensors, m).exact() && a.SameAs == "" {
			found, names = append(found, m), append(names, a.Name)
		}
	}
	switch len(found) {
	case 0:
		return nil, problem.Failure("", "no architecture of the zoo fits, even without its statistics",
			"name one with {arch}")
	case 1:
		sayAssumed(f, found[0])
		return owned(found[0]), nil
	}
	return nil, severalFit(names)
}

// statistic is a required running mean or variance.
type statistic struct {
	name  string
	shape []int
	value float32
}

func wantedStatistics(f *File, arch *models.Model) []statistic {
	var all []statistic
	if arch != nil {
		for _, s := range arch.Graph.State {
			switch s.Role {
			case graph.Mean:
				all = append(all, statistic{s.Name, s.Shape, 0})
			case graph.Variance:
				all = append(all, statistic{s.Name, s.Shape, 1})
			}
		}
		return all
	}
	for _, n := range BatchNorms(f) {
		shape, ok := channels(n, f)
		if !ok {
			continue
		}
		mean, variance := statistics(n)
		all = append(all, statistic{mean, shape, 0}, statistic{variance, shape, 1})
	}
	return all
}

// channels returns the shape of a batch norm's tensors: the shape of gamma or, without
// gamma, of the statistic that is present.
func channels(n BatchNorm, f *File) ([]int, bool) {
	for _, name := range []string{n.Gamma, n.Mean, n.Variance} {
		if t, ok := f.Tensor(name); ok && len(t.Shape) == 1 {
			return t.Shape, true
		}
	}
	return nil, false
}

// statistics returns the existing or the usual names of mean and variance.
func statistics(n BatchNorm) (mean, variance string) {
	if n.Mean != "" && n.Variance != "" {
		return n.Mean, n.Variance
	}
	base, p, _ := splitStatistic(cmp.Or(n.Mean, n.Variance, n.Count))
	return base + p.mean, base + p.variance
}

func filled(shape []int, value float32) tensor.Tensor {
	t := tensor.New(tensor.F32, shape...)
	for i := range t.F32() {
		t.F32()[i] = value
	}
	return t
}
