package progress

import (
	"fmt"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

// BestEpoch returns the best evaluated epoch so far, or nil without evaluation.
func (p *Position) BestEpoch(r *recipe.Recipe) *models.BestEpoch {
	per := r.StepsPerEpoch()
	if p.BestStep == 0 || per == 0 {
		return nil
	}
	return &models.BestEpoch{Epoch: (p.BestStep + per - 1) / per, Figure: string(r.Criterion()),
		Value: p.Best}
}

// Best describes the best epoch of a run so far, and the weights that the template gets.
type Best struct {
	models.BestEpoch
	Save string `json:"save"` // "last", or the figure that decides: Recipe.Save
	// Stored reports whether the file holds the weights of this epoch.
	Stored bool `json:"stored"`
}

// BestOf returns the best epoch of a checkpoint. It returns nil if its run has evaluated
// nothing yet, or if the recipe is of an unreadable release.
func BestOf(k *serialize.Checkpoint) *Best {
	r, err := recipe.Parse(k.Recipe)
	if err != nil {
		return nil
	}
	p, err := Read(k)
	b := p.Progress.BestEpoch(r)
	if err != nil || b == nil || b.Check() != nil {
		return nil
	}
	return &Best{*b, r.Save, k.Set(serialize.SetBest) != nil}
}

// String describes the epoch: "epoch 3, accuracy 91.20 %".
func (b *Best) String() string {
	return fmt.Sprintf("epoch %d, %s", b.Epoch, evaluation.FigureText(b.Figure, b.Value))
}
