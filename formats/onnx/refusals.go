package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/problem"
)

// refusals has the nodes of a model that are not supported.
type refusals struct {
	unknown map[string]int // number of nodes for each unsupported operator
	list    []refusal
}

// refusal is a reason that applies to some nodes of an operator.
type refusal struct {
	op    string
	err   error
	first string // the first node
	count int
}

func (r *refusals) add(i int, n *onnxpb.NodeProto, err error) {
	if u, ok := err.(unknown); ok {
		if r.unknown == nil {
			r.unknown = map[string]int{}
		}
		r.unknown[string(u)]++
		return
	}
	for k := range r.list {
		if old := &r.list[k]; old.op == n.OpType && old.err.Error() == err.Error() {
			old.count++
			return
		}
	}
	first := fmt.Sprintf("node %d (%.80s %.80s)", i, n.OpType, strings.Join(n.Output, ","))
	r.list = append(r.list, refusal{n.OpType, err, first, 1})
}

// maxRefusals is the maximum number of reasons in an error.
const maxRefusals = 8

// error returns an error for the unsupported parts of the model, or nil if there are none. It lists the
// unsupported operators with their numbers of nodes, and the reasons for other nodes.
func (r *refusals) error() error {
	var all []error
	if len(r.unknown) > 0 {
		var l []string
		for op, n := range r.unknown {
			l = append(l, fmt.Sprintf("%.80s (%d)", op, n))
		}
		slices.Sort(l)
		advice := ""
		if slices.ContainsFunc(l, func(op string) bool { return strings.HasPrefix(op, microsoft+"Q") }) {
			advice = " (quantise the file in QDQ form, quant_format=QDQ, which has the operators of floats)"
		}
		all = append(all, fmt.Errorf("operators that are not supported: %.800s%s", strings.Join(l, ", "), advice))
	}
	for i, x := range r.list {
		if i == maxRefusals {
			all = append(all, fmt.Errorf("and %s", problem.Plural(len(r.list)-i, "other refusal")))
			break
		}
		more := ""
		if x.count > 1 {
			more = fmt.Sprintf(", and %s of it", problem.Plural(x.count-1, "other node"))
		}
		all = append(all, fmt.Errorf("%s%s: %w", x.first, more, x.err))
	}
	var err error
	for i, e := range all {
		if err = e; i > 0 {
			err = fmt.Errorf("%w; %w", all[0], e)
		}
		all[0] = err
	}
	return err
}
