// Package bnctltest checks in tests that a model still predicts the same bits. A program that embeds
// a template can compare one sum, which depends on the template, on the Go version and on the kernels
// of the machine.
//
// Use it in a test of a program that predicts with package inprocess.
package bnctltest

import (
	"testing"

	"github.com/bnctl/bnctl/inprocess"
)

// SameBits fails the test if the sum of the model differs from sha. model is the path of a model
// file, or the bytes of a template. The message has the sum that the model has, so a new test
// may begin with "".
//
// Sum defines the sum. It depends on the kernel class: "fma", the best class of every machine at
// float32, unless the template is int8 and has one sum everywhere.
func SameBits[Source string | []byte](t testing.TB, model Source, sha string) {
	t.Helper()
	p, err := inprocess.Load(model, inprocess.Options{Kernels: "fma", Batch: rows})
	if err != nil {
		t.Fatal(err)
		return
	}
	defer p.Close()
	got, err := Sum(t.Context(), p)
	switch {
	case err != nil:
		t.Fatal(err)
	case got != sha:
		t.Errorf("the outputs have the sum %s, want %q", got, sha)
	}
}
