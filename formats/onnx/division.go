package onnx

import (
	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// division finds the cut of a file: before the refused nodes, and before nodes with results that cannot
// be outputs of a graph.
type division struct {
	starts map[string]bool // results of nodes of the tail

	manyPicks map[string]bool // results of each TopK that picks more elements than a graph supports
	head      *onnxpb.GraphProto
	tail      *tail
	cuts      *cut
}

// maxDivisions is the maximum number of times that a file is read to find its cut.
const maxDivisions = 6

// readDivided reads a file with a tail. It returns nil if there is no cut, or if the graph is too
// large. readers have read the file without a tail; they may be nil.
func (in *fileReader) readDivided(readers ...*reader) *foreign.File {
	for _, r := range readers {
		if r == nil || r.nodeCount > maxMade {
			continue
		}
		d := &division{starts: map[string]bool{}, manyPicks: map[string]bool{}}
		for range maxDivisions {
			if !d.extend(r) {
				break
			}
			head, err := in.read(r.whole, d)
			if err != nil {
				break
			}
			if r = head; r.file.NoModel == nil && d.attach(r) {
				return r.file
			}
		}
	}
	return nil
}

// extend adds the refused nodes and output of a reader to the tail. It reports whether there are new ones.
func (d *division) extend(r *reader) (extended bool) {
	add := func(name string) {
		extended = extended || !d.starts[name]
		d.starts[name] = true
	}
	for _, name := range r.manyPicks {
		d.manyPicks[name] = true
	}
	for _, n := range r.refused {
		add(decode.First(n.Output, ""))
	}
	if len(r.refused) == 0 && r.output != "" {
		add(r.output)
	}
	return extended && newCut(r.src, d.starts).isHosted(d.manyPicks)
}

// cut divides the graph of a file. The tail gets a copy of the message.
func (d *division) cut(g *onnxpb.GraphProto, file *fileReader) error {
	d.cuts = newCut(g, d.starts)
	d.head = d.cuts.head()
	again, err := file.decode()
	if err == nil {
		d.tail, err = newTail(newCut(again.Model.Graph, d.starts).tail(), again)
	}
	return err
}

// attach adds the tail to the model of the head. It reports whether all values that the tail reads are
// known; if one is not, r.output names it.
func (d *division) attach(r *reader) bool {
	d.tail.inputs = nil
	for _, name := range d.cuts.frontier {
		x := r.values[name]
		if x.V == graph.None || x.IsScores() {
			r.output = name
			r.refused = nil
			return false
		}
		shape := r.shared.ShapeOf(x)
		d.tail.inputs = append(d.tail.inputs, tailInput{name: name,
			batched: !x.Unbatched || len(shape) > 0 && shape[0] == 1})
	}
	var outputs []hostedOutput
	for _, o := range d.cuts.graph.Output {
		outputs = append(outputs, newHostedOutput(o, r.batchName(), r.whole))
	}
	r.file.Model = d.tail.attach(r.file.Model, outputs)
	r.file.Find("", "the end of the graph is computed on the host: it has operators with results of any length",
		"")
	return true
}

// batchName returns the file's name for the length of the batch, or "".
func (r *reader) batchName() string {
	for _, in := range r.src.Input {
		if dims := in.GetType().GetTensorType().GetShape().GetDim(); len(dims) > 0 && dims[0].GetDimParam() != "" {
			return dims[0].GetDimParam()
		}
	}
	return ""
}
