package reproduce

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/attest"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
	"github.com/bnctl/bnctl/train"
)

// options are the values of the command's flags.
type options struct {
	model, data, validation, init, chain, checkpoint string
	network                                          string            // the model, if it is not in the recipe
	file                                             modelfile.Options // for reading the files network and init
	classes                                          int               // of a new head; 0: the data's classes
	first, last                                      int               // the range of epochs to repeat; 0: all
	dryRun                                           bool
	statement                                        *attest.Signing // written if results are equal; may be nil
	fleet                                            fleet.Options
	out                                              Output
}

// Reasons for ending the second training early.
var (
	errDiffers  = errors.New("an epoch differs")
	errRepeated = errors.New("all epochs are repeated")
	errMeasured = errors.New("the speed is known")
)

// reproduce trains a second time, and compares the result with the first.
func (o *options) reproduce(ctx context.Context) (*report, error) {
	w, err := o.readOriginal()
	if err != nil {
		return nil, err
	}
	if err := o.checkStatement(w); err != nil {
		return nil, err
	}
	if err := o.checkEpochs(w); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "bnctl-reproduce-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	a := &repetition{options: o, original: w, folder: folder,
		report: report{Model: o.model, Chain: w.chain != nil, DryRun: o.dryRun}}
	return a.run(ctx)
}

// repetition is the second training.
type repetition struct {
	*options
	original *original
	folder   string // for temporary files
	report   report
	began    time.Time
	training *bnctl.Run
	stop     context.CancelCauseFunc
}

func (a *repetition) run(ctx context.Context) (*report, error) {
	a.began = time.Now()
	options, err := a.trainOptions()
	if err != nil {
		return nil, err
	}
	ctx, a.stop = context.WithCancelCause(ctx)
	defer a.stop(nil)
	if a.training, err = bnctl.Open(ctx, options); err != nil {
		return nil, a.unreadable(ctx, err)
	}
	defer a.training.Close()
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	m, err := a.training.Train(ctx)
	if !a.dryRun {
		a.report.Seconds = time.Since(a.began).Seconds()
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(err, errDiffers), errors.Is(err, errRepeated), errors.Is(cause, errMeasured):
		return &a.report, nil
	case err != nil:
		return nil, err
	case a.dryRun:
		return &a.report, nil
	}
	return &a.report, a.compare(m)
}

// Observe compares the second training with the first while it runs.
func (a *repetition) Observe(e bnctl.Event) error {
	switch e := e.(type) {
	case bnctl.Begins:
		return a.devices()
	case bnctl.Chained:
		return a.chained(e.Chain)
	case train.Event:
		a.event(e)
	}
	return nil
}

// prepare gives the recipe of the first training to the second. It returns an error if their inputs differ.
func (a *repetition) prepare(ctx context.Context) error {
	want := a.original.recipe
	if r := a.training.Recipe(); a.checkpoint == "" {
		*r = *want
	} else { // after the checkpoint the training may have been extended
		r.Epochs, r.Steps = want.Epochs, want.Steps
	}
	p, err := a.training.Prepare(ctx)
	if err != nil {
		return a.unreadable(ctx, err)
	}
	is := *p.Recipe
	is.Kernels, is.Classes = want.Kernels, want.Classes // these are checked after the devices are opened
	if diff := is.Differences(want); len(diff) > 0 {
		return inputsDiffer(a.model, diff)
	}
	if a.checkpoint == "" && a.original.chain != nil && p.Model.WeightsSum() != a.original.chain.Start {
		return problem.New("", "", "the initial weights are not those of "+a.model,
			"give their file with {init}, and the options of the file as in the training")
	}
	a.report.Steps = want.TotalSteps()
	return nil
}

// unreadable returns the error for inputs that cannot be read. They cannot be the inputs of the first
// training.
func (a *repetition) unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return problem.New("", "", fmt.Sprintf("the inputs are not those of %s: %v", a.model, err), "").Because(err)
}

// inputsDiffer returns the error for inputs that differ from those that the recipe records.
func inputsDiffer(model string, diff []recipe.Difference) error {
	var texts []string
	advice := "give the data of the training with {data} and {val}"
	for _, d := range diff {
		texts = append(texts, d.String())
		if d.Field == "graph" || d.Field == "init" {
			advice = "give the file of the initial weights with {init}, and {model} and the options of the file as " +
				"in the training"
		}
	}
	text := fmt.Sprintf("the inputs are not those of %s: %s", model, strings.Join(texts, "; "))
	return problem.New("", "", text, advice)
}

// devices returns an error if the devices have another kernel class than the first training. It is called
// before the first step.
func (a *repetition) devices() error {
	want, is := a.original.recipe, a.training.Recipe()
	if is.Kernels == want.Kernels && slices.Equal(is.Classes, want.Classes) {
		return nil
	}
	name := func(r *recipe.Recipe) string {
		return cmp.Or(strings.Join(r.Classes, ", "), r.Kernels+" without a number")
	}
	text := fmt.Sprintf("%s needs kernel class %s, and these devices have %s", a.model, name(want), name(is))
	return problem.New("", "", text, "choose others with {devices} and {kernels} "+want.Kernels)
}

// chained compares the epochs so far with the chain of the first training, which has a digest for each epoch.
func (a *repetition) chained(c *chain.Chain) error {
	if a.original.chain == nil {
		return nil
	}
	l := c.Links[len(c.Links)-1]
	was, ok := a.original.chain.Of(l.Epoch)
	if !ok || was != l {
		a.report.Differs = l.Epoch
		a.report.setEqual(false)
		return errDiffers
	}
	a.report.Epochs++
	a.out.Note("epoch %d: equal", l.Epoch)
	last := a.original.chain.Links[len(a.original.chain.Links)-1].Epoch
	if l.Epoch == a.last || a.original.sum == "" && l.Epoch == last {
		a.report.setEqual(true)
		return errRepeated
	}
	return nil
}

// compare compares the template m of the second training with the first template.
func (a *repetition) compare(m *models.Model) error {
	var b bytes.Buffer
	if err := serialize.EncodeModel(&b, m); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	a.report.SHA256 = hex.EncodeToString(sum[:])
	a.report.setEqual(a.report.SHA256 == a.original.sum)
	return nil
}

// graphFile writes the graph of the first template to a file, from which the second training makes its model.
func (a *repetition) graphFile() (string, error) {
	path := filepath.Join(a.folder, "model.graph")
	return path, os.WriteFile(path, a.original.template.Graph.Text(), 0o600)
}
