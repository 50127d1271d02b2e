package main

import (
	"maps"
	"slices"
)

// layout is the arrangement of a drawing: rows of folders from top to bottom, and those arrows that do not
// follow from other arrows.
type layout struct {
	rows   [][]string
	arrows [][2]string
}

// arranged puts every folder into a row below all folders that need it. Folders that need each other are in
// the same row.
func arranged(needs graph) layout {
	for _, name := range ground {
		delete(needs, name)
		for _, deps := range needs {
			delete(deps, name)
		}
	}
	reach := closure(needs)
	var l layout
	left := slices.Sorted(maps.Keys(needs))
	for len(left) > 0 {
		var row []string
		for _, name := range left {
			wanted := slices.ContainsFunc(left, func(o string) bool { return reach[o][name] && !reach[name][o] })
			if !wanted {
				row = append(row, name)
			}
		}
		left = slices.DeleteFunc(left, func(n string) bool { return slices.Contains(row, n) })
		l.rows = append(l.rows, row)
	}
	for _, from := range slices.Sorted(maps.Keys(needs)) {
		for _, to := range slices.Sorted(maps.Keys(needs[from])) {
			if !follows(reach, needs, from, to) {
				l.arrows = append(l.arrows, [2]string{from, to})
			}
		}
	}
	l.untangle()
	return l
}

// closure returns for each folder the folders that it needs, directly or through others.
func closure(needs graph) graph {
	reach := graph{}
	for name := range needs {
		seen := map[string]bool{}
		var visit func(string)
		visit = func(n string) {
			for dep := range needs[n] {
				if !seen[dep] {
					seen[dep] = true
					visit(dep)
				}
			}
		}
		visit(name)
		reach[name] = seen
	}
	return reach
}

// follows reports whether the arrow between two folders follows from other arrows. This is so if from needs a
// third folder that needs to, and the third folder does not need from.
func follows(reach, needs graph, from, to string) bool {
	for dep := range needs[from] {
		if dep != to && reach[dep][to] && !reach[to][dep] && !reach[dep][from] {
			return true
		}
	}
	return false
}

// untangle sorts the folders of each row by the positions of the folders that need them, so that fewer arrows
// cross.
func (l layout) untangle() {
	index := map[string]int{}
	for _, row := range l.rows {
		middle := func(name string) int {
			sum, n := 0, 0
			for _, a := range l.arrows {
				if at, ok := index[a[0]]; ok && a[1] == name {
					sum, n = sum+at, n+1
				}
			}
			if n == 0 {
				return width / 2
			}
			return sum / n
		}
		slices.SortStableFunc(row, func(a, b string) int { return middle(a) - middle(b) })
		for i, name := range row {
			index[name] = centre(i, len(row))
		}
	}
}
