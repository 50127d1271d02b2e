package reproduce

import (
	"fmt"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
)

// epochs parses a range of epochs A..B. It returns 0, 0 if all epochs are meant.
func epochs(text, option string) (first, last int, err error) {
	if text == "" {
		if option != "" {
			return 0, 0, problem.New("from", option, "it begins in the middle",
				"name epochs to repeat with {epochs} A..B")
		}
		return 0, 0, nil
	}
	var end string
	n, err := fmt.Sscanf(text+"|", "%d..%d%s", &first, &last, &end)
	if err != nil || n != 3 || end != "|" || first < 1 || last < first {
		return 0, 0, problem.New("epochs", text, "want A..B with 1 <= A <= B", "for example {epochs} 3..4")
	}
	if first > 1 && option == "" {
		return 0, 0, problem.New("epochs", text, fmt.Sprintf("epoch %d continues epoch %d", first, first-1),
			"give the checkpoint of that epoch with {from}")
	}
	return first, last, nil
}

// checkEpochs returns an error if the chain of the training does not have the epochs that are requested.
func (o *options) checkEpochs(w *original) error {
	switch {
	case o.last == 0:
		return nil
	case w.chain == nil:
		return problem.New("epochs", "", "they are compared with the chain of "+o.model+", which is not there",
			"give it with {chain}")
	}
	if _, ok := w.chain.Of(o.last); !ok {
		return problem.New("epochs", fmt.Sprintf("%d..%d", o.first, o.last), fmt.Sprintf("the chain of %s has %s",
			o.model, problem.Plural(w.chain.Links[len(w.chain.Links)-1].Epoch, "epoch")), "name epochs of the chain")
	}
	return nil
}

// checkFrom returns an error if the checkpoint to begin with is of another training, or is not from the end
// of the epoch before the first repeated epoch.
func (a *repetition) checkFrom() error {
	k, err := serialize.ReadCheckpoint(a.checkpoint)
	if err != nil {
		return err
	}
	c, err := chain.Decode(k.Attachments[chain.Attachment])
	if err != nil {
		return problem.New("from", a.checkpoint, "it has no chain", "use a checkpoint of the training of "+a.model)
	}
	for _, l := range c.Links {
		if was, ok := a.original.chain.Of(l.Epoch); !ok || was != l {
			text := fmt.Sprintf("it is of another training than %s: epoch %d differs", a.model, l.Epoch)
			return problem.New("from", a.checkpoint, text, "use a checkpoint of this training")
		}
	}
	if n := len(c.Links); n != a.first-1 {
		advice := fmt.Sprintf("use the checkpoint of epoch %d", a.first-1)
		if n < a.last {
			advice = fmt.Sprintf("repeat from epoch %d on, with {epochs} %d..%d", n+1, n+1, a.last)
		}
		return problem.New("from", a.checkpoint, "it has completed "+problem.Plural(n, "epoch"), advice)
	}
	return nil
}
