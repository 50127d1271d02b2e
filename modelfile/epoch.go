package modelfile

import (
	"strconv"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// Values of Options.Epoch.
const (
	lastEpoch = "last"
	bestEpoch = "best"
)

// atEpoch returns a function that makes a template of a checkpoint with the weights of
// o.Epoch.
func (o *Options) atEpoch(path string, k *serialize.Checkpoint) (
	func(*serialize.Checkpoint) (*models.Model, serialize.Removed, error), error) {
	best := o.Epoch == bestEpoch || o.Epoch == "" && k.TakesBest()
	switch {
	case o.Epoch != "" && o.Epoch != lastEpoch && o.Epoch != bestEpoch:
		e := problem.New("epoch", strconv.Quote(o.Epoch), "want last or best", "")
		e.Known = []string{lastEpoch, bestEpoch}
		return nil, e
	case best && k.Set(serialize.SetBest) == nil:
		return nil, problem.New("epoch", o.Epoch, path+" holds none: no epoch was evaluated, or a release wrote "+
			"it that kept the best only where the template was to be of it", "leave {epoch} out")
	case best && o.Merge != "":
		return nil, problem.New("merge", string(o.Merge), "the template is of the best epoch, whose statistics "+
			"are merged already", "add {epoch} last, or leave {merge} out")
	case best && o.Trained:
		return nil, problem.New("ema", "false", path+" holds the best epoch as it was evaluated, without the "+
			"trained weights", "add {epoch} last, or leave {ema} out")
	case best:
		return serialize.StripBest, nil
	case o.Trained:
		return serialize.StripTrained, nil
	}
	return serialize.StripLast, nil
}
