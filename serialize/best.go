package serialize

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/models"
)

// SetBest is the name of the set with the state of the epoch that was the best on the validation
// data so far: weights, averages and running statistics, not the tensors of the optimizer.
const SetBest = "best"

// TakesBest reports whether Strip returns the best epoch of c: its recipe saves the best, and an
// epoch was evaluated.
func (c *Checkpoint) TakesBest() bool {
	var recipe struct {
		Save string `json:"save"`
	}
	return c.Set(SetBest) != nil && json.Unmarshal(c.Recipe, &recipe) == nil &&
		strings.HasPrefix(recipe.Save, "best")
}

// StripBest is like Strip but with the weights of the best epoch, whatever the recipe saves. It returns an
// error if c has no best epoch: its run has not evaluated yet, or an older release wrote it.
func StripBest(c *Checkpoint) (*models.Model, Removed, error) {
	set := c.Set(SetBest)
	if set == nil {
		return nil, Removed{}, fmt.Errorf("strip %s: the checkpoint holds no best epoch", c.Architecture)
	}
	at := *c
	at.State = set.Tensors
	at.Sets = slices.DeleteFunc(slices.Clone(c.Sets), func(s Set) bool {
		return s.Name == SetBest || s.Name == SetEstimated // the estimated statistics are of the last state
	})
	m, removed, err := StripLast(&at)
	if err != nil {
		return nil, removed, err
	}
	m.Best = c.Best
	for _, s := range m.Graph.State {
		removed.Bytes += int64(len(c.State[s.Name].Bytes))
	}
	removed.Last, removed.Stale = true, false // SetBest has estimated statistics if the run estimates them
	return m, removed, nil
}
