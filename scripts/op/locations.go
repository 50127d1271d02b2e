package main

// location is a file or a folder that must mention every operation.
type location struct {
	path    string
	content string // content of the place about an operation
	applies func(operation) bool
	// note is a condition in words, for a place that only some operations need, if no rule can decide which
	// ones. It is empty for a place that is required.
	note string
}

// These functions decide whether an operation must be in a place. An operation that is not in package graph
// yet must be in every place.
func always(operation) bool     { return true }
func onDevice(o operation) bool { return !o.op.Valid() || !o.op.Host() }
func differentiable(o operation) bool {
	return !o.op.Valid() || o.op.Differentiable()
}

// locations are all places that mention operations, in the order of adding a new operation.
var locations = []location{
	{"graph/op.go", "its number and its definition", always, ""},
	{"graph/table.go", "its row: operands, attributes, rules", always, ""},
	{"graph/testdata/numbers", "its number, which never changes", always, ""},
	{"graph/grad_cases_test.go", "a case of its gradient", differentiable, ""},
	{"device/proto/device/v1/device.proto", "its number and definition, for authors of plugins",
		onDevice, ""},
	{"device/internal/devicepb/testdata/v1.txt", "its number in the protocol", onDevice, ""},
	{"device/ref", "its loop, which is the definition of its bits", onDevice, ""},
	{"device/devicetest", "a conformance case, with awkward shapes", onDevice, ""},
	{"plugins/cpu/internal", "its kernel, or the plan that needs none", onDevice, ""},
	{"plugins/cpu/internal/cpu/testdata/division.txt", "a case whose work is divided over threads",
		onDevice, ""},
	{"plugins/gpu", "its kernel on GPUs, or the list of what they refuse", onDevice, ""},

	{"graph/cost.go", "its work", always, "if it does more than look at every element once"},
	{"graph/decompose_rules.go", "simpler operations in its place", always, "if devices can do without it"},
	{"graph/grad_structure.go", "its gradient (or another grad_*.go)", always, "if it has a derivative"},
	{"graph/infer_structure.go", "its rule for shapes (or another infer_*.go)", always, "if no other rule fits"},
	{"device/class", "its arithmetic", always, "if several devices share it"},
	{"device/ref/testdata/golden.py", "values of PyTorch", always, "if PyTorch has it"},
	{"plugins/internal/bitwise/cases.txt", "a case of bits between the CPU and a GPU", always,
		"if its kernel has a tile or a sum of its own"},
	{"plugins/cpu/internal/cpu/testdata/ops.txt", "a case beside others that are fused with it", always,
		"if the CPU device has several kernels for it"},
	{"plugins/cpu/internal/plan", "the order of its values, bf16", always, "if it only moves values"},
	{"modelfile/quantize", "its range in int8", always, "if bounds pass through it"},
	{"formats/onnx", "operators that become it", always, "if files have it"},
	{"formats/onnx/internal/encode", "its ONNX form", always, "if a network may have it"},
	{"formats/keras", "layers that become it", always, "if files have it"},
	{"models", "networks of the zoo, sizes", always, "if the zoo needs it"},
	{"docs/graph.md", "its line in the text form", always, "if a network may have it"},
	{"docs/classes.md", "the order of its sums", always, "if it adds more than two values"},
}
