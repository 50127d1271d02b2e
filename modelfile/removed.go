package modelfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// Removed lists the parts of a file that only training needs. Stripping removes them.
type Removed struct {
	Connections       int      `json:"connections"` // nodes between replicas
	ReplicaStatistics int      `json:"replica_statistics"`
	OptimizerTensors  int      `json:"optimizer_tensors"`
	Wrappers          []string `json:"wrappers"` // outermost first: "state_dict", "module."
	Other             []string `json:"other"`    // other tensors as text
	// Replicas is the number of replicas of the graph; 0 for a file of another program.
	Replicas int `json:"-"`
	// Stale reports that the template has the statistics of the training, although the run
	// estimates statistics for its template.
	Stale bool `json:"-"`
	// Lines describes everything as text, one item per line. It is empty if the file is
	// clean.
	Lines []string `json:"-"`
}

// NewRemoved describes the parts that serialize.Strip removed from a checkpoint of bnctl.
func NewRemoved(r *serialize.Removed) *Removed {
	all := &Removed{Connections: r.Nodes(), OptimizerTensors: len(r.Optimizer), Wrappers: []string{},
		Other: otherRemoved(r), Replicas: r.Replicas, Stale: r.Stale}
	for _, name := range r.Sets {
		if serialize.IsReplicaSet(name) {
			all.ReplicaStatistics++
		}
	}
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(r.Connections)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", r.Connections[name], name))
	}
	all.Lines = append(all.Lines, fmt.Sprintf("%s (%s)", problem.Plural(all.Connections, "replica connection"),
		strings.Join(kinds, ", ")))
	if all.OptimizerTensors > 0 {
		all.Lines = append(all.Lines, problem.Plural(all.OptimizerTensors, "optimizer tensor"))
	}
	all.Lines = append(all.Lines, all.Other...)
	all.Lines = append(all.Lines, fmt.Sprintf("%.1f MB in all", float64(r.Bytes)/1e6))
	return all
}

// otherRemoved describes the parts of a checkpoint besides connections and optimizer tensors.
func otherRemoved(r *serialize.Removed) []string {
	other := []string{}
	switch n := len(r.Averages); {
	case r.Averaged:
		other = append(other, "the trained weights of "+problem.Plural(n, "tensor")+"; their average remains")
	case n > 0:
		other = append(other, problem.Plural(n, "average")+" of weights")
	}
	if n := len(r.Auxiliary); n > 0 {
		other = append(other, "the auxiliary head: "+problem.Plural(n, "tensor"))
	}
	if r.Last {
		other = append(other, "the weights of the last epoch")
	}
	replicas, weights := 0, 0
	for _, name := range r.Sets {
		switch {
		case serialize.IsReplicaSet(name):
			replicas++
		case serialize.IsWeightSet(name):
			weights++
		case name == serialize.SetEstimated:
			// The statistics of this set have not been removed: they are in the template.
		case name == serialize.SetBest:
			other = append(other, "the weights of the best epoch")
		default:
			other = append(other, "set "+name)
		}
	}
	if replicas > 0 {
		other = append(other, "statistics of "+problem.Plural(replicas, "replica"))
	}
	if weights > 0 {
		other = append(other, "weights of "+problem.Plural(weights, "replica"))
	}
	if r.Attachments > 0 {
		other = append(other, problem.Plural(r.Attachments, "attachment"))
	}
	return other
}

// Removed returns the parts of another program's file that were not used.
func (k *Choice) Removed() *Removed {
	r := &Removed{Wrappers: append([]string{}, k.Wrappers...), Other: []string{}}
	if k.Key != "" {
		r.Lines = append(r.Lines, "all but the "+problem.Plural(k.Tensors, "tensor")+" of "+k.Key)
	}
	if len(k.Wrappers) > 0 {
		r.Lines = append(r.Lines, "wrappers: "+strings.Join(k.Wrappers, " "))
	}
	for _, g := range k.LeftOut {
		line := groupLine(g)
		r.Lines = append(r.Lines, line)
		if g.Reason == "optimizer state" {
			r.OptimizerTensors += g.Tensors
		} else {
			r.Other = append(r.Other, line)
		}
	}
	for _, c := range k.Counters {
		r.Lines = append(r.Lines, c.Name+" = "+c.Value)
	}
	return r
}

// reason explains why a group was left out, and how to use it anyway.
func reason(g formats.Group) string {
	if g.Advice == "" {
		return g.Reason
	}
	return g.Reason + "; " + g.Advice
}

func groupLine(g formats.Group) string {
	return fmt.Sprintf("%s: %s, %s, %.1f MB", g.Name, reason(g), problem.Plural(g.Tensors, "tensor"),
		float64(g.Bytes)/1e6)
}

// Line describes the choice in a line: how many tensors were used, and what was left out. It is "" if
// all were used and the file contains only them.
func (k *Choice) Line() string {
	var left []string
	for _, g := range k.LeftOut {
		text := g.Name + " (" + reason(g)
		if g.Tensors > 1 {
			text += ", " + problem.Plural(g.Tensors, "tensor")
		}
		left = append(left, text+")")
	}
	line := fmt.Sprintf("%s: took %s", k.Path, problem.Plural(k.Tensors, "tensor"))
	if k.Key != "" {
		line += " of " + k.Key
	}
	switch {
	case len(left) > 0:
		return line + "; left out " + Few(left)
	case k.Key != "":
		return line
	}
	return ""
}

// Few joins names, and abbreviates a long list.
func Few(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
