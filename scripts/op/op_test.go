package main

import "testing"

func treeOf(t *testing.T) tree {
	t.Helper()
	tree, err := readTree("../..")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestEveryOperationHasItsPlaces(t *testing.T) {
	tree := treeOf(t)
	for _, o := range operations() {
		for _, p := range tree.missing(o) {
			t.Errorf("%s is missing in %s: %s", o.name, p.path, p.content)
		}
	}
}

// TestMissing removes an operation from one place after another. Each time the place is reported.
func TestMissing(t *testing.T) {
	o, tree := operationNamed("take"), treeOf(t)
	for _, p := range locations {
		if p.note != "" {
			continue
		}
		with := tree[p.path]
		tree[p.path] = words{}
		if m := tree.missing(o); len(m) != 1 || m[0].path != p.path {
			t.Errorf("without take in %s: missing %v", p.path, m)
		}
		tree[p.path] = with
	}
}

func TestNewOperation(t *testing.T) {
	o, tree := operationNamed("new_thing"), treeOf(t)
	if o.constant != "NewThing" || o.op.Valid() {
		t.Errorf("operationNamed(new_thing) = %+v", o)
	}
	required := 0
	for _, p := range locations {
		if p.note == "" {
			required++
		}
	}
	if got := len(tree.missing(o)); got != required {
		t.Errorf("a new operation is missing in %d locations, want %d", got, required)
	}
}
