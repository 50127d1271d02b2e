package train

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// TensorCounts is the number of tensors of a model that a run trains. Statistics are running statistics.
type TensorCounts struct {
	Trained    int      `json:"trained"`
	Frozen     int      `json:"frozen"`
	Statistics int      `json:"statistics"`
	Constant   int      `json:"constant"`
	Constants  []string `json:"constants,omitempty"` // names of constant tensors

	TrainedNames    []string `json:"trained_names,omitempty"`
	FrozenNames     []string `json:"frozen_names,omitempty"`
	StatisticsNames []string `json:"statistics_names,omitempty"`
}

// countTensors counts the tensors of a state. Patterns freeze some of them.
func countTensors(state []graph.State, freeze []string) (c TensorCounts) {
	frozen, _ := models.Frozen(state, freeze) // an error would have ended the run earlier
	for _, s := range state {
		switch {
		case frozen[s.Name]:
			c.Frozen++
			c.FrozenNames = append(c.FrozenNames, s.Name)
		case s.Role.Trained():
			c.Trained++
			c.TrainedNames = append(c.TrainedNames, s.Name)
		case s.Role.Statistic():
			c.Statistics++
			c.StatisticsNames = append(c.StatisticsNames, s.Name)
		case s.Role == graph.Constant:
			c.Constant++
			c.Constants = append(c.Constants, s.Name)
		}
	}
	return c
}

// String returns the counts in words: "tensors: 62 trained, 3 frozen, 40 statistics, 2 constant
// (mean, std)".
func (c TensorCounts) String() string {
	text := fmt.Sprintf("tensors: %d trained", c.Trained)
	if c.Frozen > 0 {
		text += fmt.Sprintf(", %d frozen", c.Frozen)
	}
	text += fmt.Sprintf(", %s, %d constant", problem.Plural(c.Statistics, "statistic"), c.Constant)
	const most = 3
	if n := len(c.Constants); n > most {
		return text + " (" + strings.Join(c.Constants[:most], ", ") + ", ...)"
	} else if n > 0 {
		return text + " (" + strings.Join(c.Constants, ", ") + ")"
	}
	return text
}
