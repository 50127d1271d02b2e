package train

import (
	"fmt"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// bestEpoch returns the best evaluated epoch so far, or nil without evaluation.
func (p *Progress) bestEpoch(r *Recipe) *models.BestEpoch {
	per := r.StepsPerEpoch()
	if p.BestStep == 0 || per == 0 {
		return nil
	}
	return &models.BestEpoch{Epoch: (p.BestStep + per - 1) / per, Figure: string(r.criterion()),
		Value: p.Best}
}

// Best is the best epoch of a run so far, and which weights its template has.
type Best struct {
	models.BestEpoch
	Save string `json:"save"` // "last", or the figure that decides, as Recipe.Save has it
	// Stored reports whether the file holds its weights.
	Stored bool `json:"stored"`
}

// BestOf returns the best epoch of a checkpoint. It returns nil if its run has evaluated
// nothing yet, or if the recipe is of an unreadable release.
func BestOf(k *serialize.Checkpoint) *Best {
	r, err := ParseRecipe(k.Recipe)
	if err != nil {
		return nil
	}
	p, err := positionOf(k)
	b := p.Progress.bestEpoch(r)
	if err != nil || b == nil || b.Check() != nil {
		return nil
	}
	return &Best{*b, r.Save, k.Set(serialize.SetBest) != nil}
}

// String describes the epoch: "epoch 3, accuracy 91.20 %".
func (b *Best) String() string {
	return fmt.Sprintf("epoch %d, %s", b.Epoch, FigureText(b.Figure, b.Value))
}
