package main

import (
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
)

// The vectors in the folder spec equal the results of device/ref.
func TestVectorsAreMadeByRef(t *testing.T) {
	if err := run("../../spec", true); err != nil {
		t.Error(err)
	}
}

// There are vectors for every operation of a device, and at least one of them is small.
func TestEveryOperationHasVectors(t *testing.T) {
	has := map[graph.Op]bool{}
	for _, c := range cases() {
		for _, n := range c.nodes {
			has[n.op] = true
		}
	}
	for _, o := range ref.Ops() {
		if !has[o] {
			t.Errorf("no vector runs %v", o)
		}
	}
}
