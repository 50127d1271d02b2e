package formats

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// OpenRanks opens the files written by the ranks of one run, as one file. The running
// statistics are merged by o.Merge; everything else must be the same in all files, bit for
// bit. The caller closes the result.
func OpenRanks(paths []string, o Options) (*File, error) {
	var files []*File
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, path := range paths {
		f, err := Open(path, o)
		if err != nil {
			closeAll()
			return nil, err
		}
		files = append(files, f)
	}
	if err := mergeRanks(files, paths, o.rule()); err != nil {
		closeAll()
		return nil, err
	}
	for _, f := range files[1:] {
		files[0].Owns(f)
	}
	return files[0], nil
}

// mergeRanks merges all files into the first one.
func mergeRanks(files []*File, paths []string, rule bn.Rule) error {
	if len(files) < 2 {
		return nil
	}
	if files[0].Model != nil {
		return problem.Advise("write .pth or .safetensors",
			"files of several ranks with a graph each are merged as tensors only")
	}
	statistic := map[string]bool{}
	norms := BatchNorms(files[0])
	for _, n := range norms {
		for _, name := range []string{n.Mean, n.Variance, n.Count} {
			statistic[name] = name != ""
		}
	}
	for k := 1; k < len(files); k++ {
		if err := sameTensors(files[0], files[k], statistic); err != nil {
			return fmt.Errorf("%s and %s: %w", paths[0], paths[k], err)
		}
	}
	merged, err := mergeStatistics(files, norms, rule)
	if err != nil {
		return err
	}
	for i, t := range files[0].Tensors {
		if v, ok := merged[t.Name]; ok {
			files[0].Tensors[i] = InMemory(t.Name, v)
		}
	}
	files[0].Find("", fmt.Sprintf("the statistics of %s are those of %s, merged: %s",
		problem.Plural(len(norms), "batch norm"), problem.Plural(len(files), "rank"), rule), "")
	return nil
}

// sameTensors verifies that two files have the same tensors, and the same
// elements in all but the statistics.
func sameTensors(a, b *File, statistic map[string]bool) error {
	if len(a.Tensors) != len(b.Tensors) {
		return fmt.Errorf("%s and %d", problem.Plural(len(a.Tensors), "tensor"), len(b.Tensors))
	}
	var differ []string
	for _, t := range a.Tensors {
		u, ok := b.Tensor(t.Name)
		if !ok || u.DType != t.DType || !slices.Equal(u.Shape, t.Shape) {
			return fmt.Errorf("%v has no counterpart", t)
		}
		if statistic[t.Name] {
			continue
		}
		same, err := sameElements(t, u)
		if err != nil {
			return err
		}
		if !same {
			differ = append(differ, t.Name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("the weights differ in %d of %s (%s): files of one step of one run "+
			"are wanted",
			len(differ), problem.Plural(len(a.Tensors), "tensor"), firstNames(differ))
	}
	return nil
}

func sameElements(a, b Tensor) (bool, error) {
	x, err := a.Load()
	if err != nil {
		return false, err
	}
	y, err := b.Load()
	if err != nil {
		return false, err
	}
	return bytes.Equal(x.Bytes, y.Bytes), nil
}

// mergeStatistics returns the statistics of all files as one set, by name.
func mergeStatistics(files []*File, norms []BatchNorm, rule bn.Rule) (map[string]tensor.Tensor, error) {
	var layers []bn.Layer
	for _, n := range norms {
		mean, ok1 := files[0].Tensor(n.Mean)
		_, ok2 := files[0].Tensor(n.Variance)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("batch norm %s lacks its mean or its variance", n.Name)
		}
		layers = append(layers, bn.Layer{Name: n.Name, Mean: n.Mean, Variance: n.Variance,
			Channels: tensor.Count(mean.Shape)})
	}
	var sets []map[string]tensor.Tensor
	for _, f := range files {
		set := map[string]tensor.Tensor{}
		for _, l := range layers {
			for _, name := range []string{l.Mean, l.Variance} {
				t, _ := f.Tensor(name)
				v, err := loadF32(t, nil)
				if err != nil {
					return nil, err
				}
				set[name] = v
			}
		}
		sets = append(sets, set)
	}
	return bn.Merge(layers, sets, nil, rule)
}

// firstNames lists the first names, and gives the number of the others.
func firstNames(names []string) string {
	const most = 4
	if len(names) <= most {
		return join(names)
	}
	return join(names[:most]) + fmt.Sprintf(" and %d more", len(names)-most)
}
