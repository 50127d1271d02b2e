package train

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
)

// Evaluated is an evaluation at the end of an epoch, as Config.Evaluated gets it.
type Evaluated struct {
	Epoch      int // counted from 1
	Best       bool
	Evaluation *evaluation.Evaluation
	Model      *models.Model // has the names of classes, but not the weights of the epoch
	Source     data.Source   // validation data, which may be read until the run ends
}

// tellEvaluation passes an evaluation to Config.Evaluated.
func (s *Session) tellEvaluation(epoch int, e *evaluation.Evaluation) {
	if tell := s.plan.config.Evaluated; tell != nil {
		tell(Evaluated{Epoch: epoch, Best: s.trainer.progress.BestStep == s.trainer.progress.Step, Evaluation: e,
			Model: s.plan.template, Source: s.plan.config.Validation})
	}
}
