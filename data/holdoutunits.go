package data

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/problem"
)

// unit is a set of members that must be in the same part: a sample and its copies, or groups that have equal
// pictures. members are numbers of samples, or numbers of groups.
type unit struct {
	name    string // the alphabetically first name of its members
	members []int
}

// unitsOf joins members that are in a common set into one unit. Each other member is a unit by itself. The
// order of members is kept.
func unitsOf(members []int, sets [][]int, name func(i int) string) []unit {
	root := map[int]int{}
	var find func(i int) int
	find = func(i int) int {
		if up, ok := root[i]; ok && up != i {
			root[i] = find(up)
			return root[i]
		}
		return i
	}
	for _, set := range sets {
		for _, i := range set[1:] {
			root[find(i)] = find(set[0])
		}
	}
	at, units := map[int]int{}, []unit{}
	for _, i := range members {
		k, ok := at[find(i)]
		if !ok {
			k, at[find(i)] = len(units), len(units)
			units = append(units, unit{name: name(i)})
		}
		units[k].members = append(units[k].members, i)
		units[k].name = min(units[k].name, name(i))
	}
	return units
}

// first returns the members of the first units, about round(Fraction * n) of n members in total. Units are
// sorted by the hashes of their names. first returns at least one unit, and never all. If a unit would exceed
// the number of members, a later unit is used in its place, if there is one.
func (h Holdout) first(units []unit) []int {
	sums, n := map[string][sha256.Size]byte{}, 0
	for _, u := range units {
		sums[u.name] = sha256.Sum256([]byte(strconv.FormatUint(h.Seed, 10) + "\x00" + u.name))
		n += len(u.members)
	}
	sorted := slices.Clone(units)
	slices.SortStableFunc(sorted, func(a, b unit) int {
		x, y := sums[a.name], sums[b.name]
		return bytes.Compare(x[:], y[:])
	})
	want := min(max(int(math.Round(h.Fraction*float64(n))), 1), n-1)
	var out []int
	for _, u := range sorted {
		if len(out)+len(u.members) <= want {
			out = append(out, u.members...)
		}
	}
	if len(out) == 0 {
		return sorted[0].members
	}
	return out
}

// byClass sets samples of each class apart. It adds to out the names of classes that consist of a single
// unit.
func (h Holdout) byClass(src Source, labels []int32, copies [][]reference, out *HeldOut) []bool {
	apart, stays := make([]bool, len(labels)), map[int]bool{}
	var sets [][]int
	for _, g := range copies {
		set := samplesOf(g)
		sets = append(sets, set)
		for _, i := range set {
			stays[i] = slices.ContainsFunc(set, func(k int) bool { return labels[k] != labels[i] })
		}
	}
	classes := map[int32][]int{}
	for i, label := range labels {
		classes[label] = append(classes[label], i)
	}
	for label, samples := range classes {
		free := slices.DeleteFunc(samples, func(i int) bool { return stays[i] })
		units := unitsOf(free, sets, func(i int) string { return pathOf(src, i) })
		if len(units) == 0 || len(units) == 1 && len(free) == len(classes[label]) {
			out.Single = append(out.Single, className(src.Info(), label))
			continue
		}
		for _, i := range h.first(units) {
			apart[i] = true
		}
	}
	slices.Sort(out.Single)
	return apart
}

func samplesOf(g []reference) (samples []int) {
	for _, p := range g {
		samples = append(samples, p.sample)
	}
	return samples
}

// byGroup sets whole groups apart.
func (h Holdout) byGroup(src Source, copies [][]reference) ([]bool, error) {
	group, err := h.groupOf(src)
	if err != nil {
		return nil, err
	}
	apart := make([]bool, src.Info().Len)
	of, number, names := make([]int, len(apart)), map[string]int{}, []string{}
	for i := range apart {
		name, err := group(i)
		if err != nil {
			return nil, err
		}
		k, ok := number[name]
		if !ok {
			k, number[name] = len(names), len(names)
			names = append(names, name)
		}
		of[i] = k
	}
	units, err := h.unitsOfGroups(names, of, copies)
	if err != nil {
		return nil, err
	}
	chosen := map[int]bool{}
	for _, k := range h.first(units) {
		chosen[k] = true
	}
	for i := range apart {
		apart[i] = chosen[of[i]]
	}
	return apart, nil
}

// unitsOfGroups joins groups that have equal pictures into units. groupOf has the number of the group of
// each sample.
func (h Holdout) unitsOfGroups(names []string, groupOf []int, copies [][]reference) ([]unit, error) {
	if len(names) < 2 {
		return nil, problem.New("split-groups", h.Groups, fmt.Sprintf("all samples are of one group, %q", names[0]),
			"name groups of which some can be set apart")
	}
	var sets [][]int
	for _, g := range copies {
		set := samplesOf(g)
		for k, i := range set {
			set[k] = groupOf[i]
		}
		sets = append(sets, set)
	}
	groups := make([]int, len(names))
	for k := range groups {
		groups[k] = k
	}
	slices.SortFunc(groups, func(a, b int) int { return bytes.Compare([]byte(names[a]), []byte(names[b])) })
	units := unitsOf(groups, sets, func(k int) string { return names[k] })
	if len(units) < 2 {
		return nil, problem.New("split-groups", h.Groups,
			"all of "+problem.Plural(len(names), "group")+" have equal pictures in common",
			"remove the copies, or name groups of which some can be set apart")
	}
	return units, nil
}
