package serialize

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// SetEstimated is the name of the set of running statistics that a run estimated for the template of
// its last state. A checkpoint has it if the run estimates statistics and did so at this step.
const SetEstimated = "estimated"

const averagePrefix = "average/"

// AverageName returns the name of the average of a weight.
func AverageName(weight string) string { return averagePrefix + weight }

// Averages reports whether c has averages of the weights.
func (c *Checkpoint) Averages() bool {
	return slices.ContainsFunc(c.Training, func(s graph.State) bool { return s.Role == graph.Average })
}

// derived returns a copy of c with the state of a template: the averages in place of the weights, and
// the statistics of SetEstimated. stale reports that the recipe estimates statistics but c has no
// estimates: the statistics of the last step remain.
func (c *Checkpoint) derived() (d *Checkpoint, stale bool) {
	at := *c
	at.State = maps.Clone(c.State)
	for _, s := range c.Training {
		if name, ok := strings.CutPrefix(s.Name, averagePrefix); ok && s.Role == graph.Average {
			at.State[name] = c.State[s.Name]
		}
	}
	estimated := c.Set(SetEstimated)
	if estimated != nil {
		maps.Copy(at.State, estimated.Tensors)
	}
	return &at, estimated == nil && c.estimates()
}

// estimates reports whether the run of c estimates statistics for its template.
func (c *Checkpoint) estimates() bool {
	var recipe struct {
		Precise int    `json:"bn_precise"`
		Sync    string `json:"weight_sync"`
	}
	if json.Unmarshal(c.Recipe, &recipe) != nil || !slices.ContainsFunc(c.Graph.Main.Nodes, isTrack) {
		return false
	}
	periodic := strings.HasPrefix(recipe.Sync, "periodic:") && recipe.Sync != "periodic:1"
	return c.Averages() || periodic || recipe.Precise > 0
}

func isTrack(n graph.Node) bool { return n.Op == graph.Track }
