package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// stripEvent is the line of strip --json.
type stripEvent struct {
	Inputs       []string     `json:"inputs"`
	Format       string       `json:"format"`
	Output       string       `json:"output"`
	SHA256       string       `json:"sha256"`
	Architecture string       `json:"architecture"`
	Parameters   int          `json:"parameters"`
	Replicas     int          `json:"replicas"`
	Removed      removedEvent `json:"removed"`
	BN           bnEvent      `json:"bn"`
	foreignChoice
}

type removedEvent struct {
	Connections       int      `json:"connections"`
	ReplicaStatistics int      `json:"replica_statistics"`
	OptimizerTensors  int      `json:"optimizer_tensors"`
	Wrappers          []string `json:"wrappers"`
	Other             []string `json:"other"`
}

func newRemovedEvent(r *serialize.Removed) removedEvent {
	e := removedEvent{Connections: r.Nodes(), OptimizerTensors: len(r.Optimizer), Wrappers: []string{},
		Other: otherThings(r)}
	for _, name := range r.Sets {
		if serialize.IsOfReplica(name) {
			e.ReplicaStatistics++
		}
	}
	return e
}

type bnEvent struct {
	Layers int    `json:"layers"`
	Merged string `json:"merged"` // how the replicas' statistics became one
	Health string `json:"health"`
	// what doctor warns of
	Warnings int `json:"warnings"`
}

// ownEvent describes a template and what was taken off it. merge is the rule
// of --merge, "" without.
func ownEvent(m *models.Model, r *serialize.Removed, merge string) stripEvent {
	e := stripEvent{Format: "bnc", Architecture: m.Architecture, Parameters: m.Summary().Parameters,
		Replicas: r.Replicas, Removed: newRemovedEvent(r),
		BN: bnEvent{Layers: len(formats.ModelNorms(m)), Merged: merge}}
	if merge == "" {
		e.BN.Merged = merged(m)
	}
	return e
}

func (s *stripping) report(o *output) error {
	e := s.event
	o.event("strip", e)
	from := []string{}
	for _, part := range []string{e.Architecture, e.Format} {
		if part != "" {
			from = append(from, part)
		}
	}
	if e.Replicas > 0 {
		from = append(from, counted(e.Replicas, "replica"))
	}
	o.result("removed from %s (%s):", strings.Join(e.Inputs, ", "), strings.Join(from, ", "))
	for _, line := range s.lines {
		o.result("   %s", line)
	}
	if len(s.lines) == 0 {
		o.result("   nothing: it was clean")
	}
	o.result("wrote %s  sha256 %s  (%d parameters, %s, statistics %s, %s)", e.Output, e.SHA256,
		e.Parameters, counted(e.BN.Layers, "batch norm"), e.BN.Merged, healthText(e.BN.Health, e.BN.Warnings))
	warnOfSickness(o, &s.sick, e.Output)
	return nil
}

// merged says how the running statistics of the replicas became one: the
// mode, or the rule, of the recipe.
func merged(m *models.Model) string {
	var r struct {
		BN   string `json:"bn"`
		Rule string `json:"bn_stats"`
	}
	if json.Unmarshal(m.Recipe, &r) != nil {
		return "unknown"
	}
	if r.BN == "replica" {
		return r.Rule
	}
	return r.BN
}

// removedLines says in words what was taken away.
func removedLines(r *serialize.Removed) []string {
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(r.Connections)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", r.Connections[name], name))
	}
	lines := []string{fmt.Sprintf("%s (%s)", counted(r.Nodes(), "replica connection"),
		strings.Join(kinds, ", "))}
	if n := len(r.Optimizer); n > 0 {
		lines = append(lines, counted(n, "optimizer tensor"))
	}
	lines = append(lines, otherThings(r)...)
	return append(lines, fmt.Sprintf("%.1f MB in all", float64(r.Bytes)/1e6))
}

// otherThings says what else was taken away.
func otherThings(r *serialize.Removed) []string {
	other := []string{}
	if n := len(r.Averages); n > 0 {
		other = append(other, fmt.Sprintf("%d averages of weights", n))
	}
	replicas, weights := 0, 0
	for _, name := range r.Sets {
		switch {
		case serialize.IsOfReplica(name):
			replicas++
			continue
		case serialize.IsOfWeights(name):
			weights++
			continue
		}
		other = append(other, "set "+name)
	}
	if replicas > 0 {
		other = append(other, "statistics of "+counted(replicas, "replica"))
	}
	if weights > 0 {
		other = append(other, fmt.Sprintf("weights of %d replicas", weights))
	}
	if r.Attachments > 0 {
		other = append(other, counted(r.Attachments, "attachment"))
	}
	return other
}
