package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/spec"
	"github.com/bnctl/bnctl/tensor"
)

// largest is the maximum number of bytes of the operands and results of a vector that is embedded in the
// program. Larger vectors are in folders named large.
const largest = 12 << 10

// generate returns the content of all files of the cases, by name.
func generate(ctx context.Context, cases []testCase) (map[string][]byte, error) {
	d, err := ref.Provider{}.Open(ctx, device.DefaultID, device.Options{Kernels: class.FMA})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	files := map[string][]byte{}
	for _, c := range cases {
		v, err := c.vector(ctx, d)
		if err != nil {
			return nil, fmt.Errorf("%v, %s: %w", c.nodes[0].op, c.name, err)
		}
		if files[v.Name+".json"] != nil {
			return nil, fmt.Errorf("two vectors are called %s", v.Name)
		}
		if err := encode(v, files); err != nil {
			return nil, err
		}
	}
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	files[spec.Sums] = []byte(sums.String())
	return files, nil
}

// short matches a list of numbers or names in JSON.
var short = regexp.MustCompile(`\[[^][{}]*\]`)

// joined returns a list on one line.
func joined(list []byte) []byte {
	words := strings.Join(strings.Fields(string(list)), " ")
	return []byte(strings.ReplaceAll(strings.ReplaceAll(words, "[ ", "["), " ]", "]"))
}

// encode adds the files of a vector to files.
func encode(v *spec.Vector, files map[string][]byte) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	files[v.Name+".json"] = append(short.ReplaceAllFunc(text, joined), '\n')
	add := func(a *spec.Array) error {
		b, err := spec.Encode(a.Tensor())
		files[path.Join(path.Dir(v.Name), a.File)] = b
		return err
	}
	for i := range v.Operands {
		if err := add(&v.Operands[i].Array); err != nil {
			return err
		}
	}
	for i := range v.Results {
		if err := add(&v.Results[i].Array); err != nil {
			return err
		}
	}
	return nil
}

// vector returns the vector of a case, with the results that a device computes.
func (c testCase) vector(ctx context.Context, d device.Device) (*spec.Vector, error) {
	v := &spec.Vector{Schema: spec.Schema, Class: c.class(), About: c.description, Replicas: c.replicas}
	draws := tensor.NewPhilox(57, tensor.StreamInit).Draws(uint32(c.nodes[0].op), uint64(len(c.name)))
	for i, o := range c.operands {
		if o.fill == nil {
			continue
		}
		t := tensor.New(o.typ.DType, o.typ.Sized(c.rows(), len(c.replicas))...)
		o.fill(&draws, t)
		setNaN(t)
		name := c.operandName(i)
		v.Operands = append(v.Operands, spec.Operand{State: o.isState(),
			Array: spec.NewArray(name, o.typ.Kind, t, c.name+"."+name+".npy")})
	}
	c.addNodes(v)
	p, err := v.Program()
	if err != nil {
		return nil, err
	}
	describe(v, p)
	got, err := v.Compute(ctx, d)
	if err != nil {
		return nil, err
	}
	for i, o := range p.Functions[0].Outputs {
		setNaN(got[i])
		r := &v.Results[i]
		*r = spec.Result{Array: spec.NewArray(r.Name, p.Functions[0].Values[o.Value].Type.Kind, got[i],
			c.name+"."+r.Name+".npy")}
	}
	v.Name = path.Join(v.Class, c.nodes[0].op.String(), c.folder(v), c.name)
	return v, nil
}

// setNaN gives every NaN the same bits, because the bits differ between processors.
func setNaN(t tensor.Tensor) {
	switch t.DType {
	case tensor.F32:
		for i, v := range t.F32() {
			if v != v {
				t.F32()[i] = math.Float32frombits(0x7fc00000)
			}
		}
	case tensor.F64:
		for i, v := range t.F64() {
			if v != v {
				t.F64()[i] = math.Float64frombits(0x7ff8000000000000)
			}
		}
	}
}

// folder returns the folder for a vector, inside the folder of its operation.
func (c testCase) folder(v *spec.Vector) string {
	size := 0
	for i := range v.Operands {
		size += len(v.Operands[i].Tensor().Bytes)
	}
	for i := range v.Results {
		size += len(v.Results[i].Tensor().Bytes)
	}
	if size > largest {
		return "large"
	}
	return ""
}

// describe writes into the vector which algorithm computes each product. The kernel class chooses the
// algorithms after batch norms are folded into products.
func describe(v *spec.Vector, p *graph.Program) {
	fn, _ := class.Fold(p.Functions[0])
	for i := range v.Nodes {
		for k := range fn.Nodes {
			n := &fn.Nodes[k]
			l, ok := class.LayerOf(fn, n)
			if ok && n.Op == graph.Op(v.Nodes[i].Number) {
				v.Nodes[i].Algorithm = class.Choose(l, device.F32, class.FMA).String()
			}
		}
	}
}
