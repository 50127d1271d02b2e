package reproduce

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/attest"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
)

// original describes the first training, the one to reproduce, as its file records it.
type original struct {
	path     string
	template *models.Model
	sum      string // SHA-256 of the template; "" if the file is a checkpoint of an unfinished training
	recipe   *recipe.Recipe
	chain    *chain.Chain   // nil without a file of the chain
	paths    progress.Paths // paths in the checkpoint of the run, if it exists
}

// readOriginal reads a template or a checkpoint, with its chain. The error is a misuse if the file is
// damaged, or if its recipe cannot be reproduced.
func (o *options) readOriginal() (*original, error) {
	if err := attest.RequireNative(o.model); err != nil {
		return nil, err
	}
	f, err := serialize.Open(o.model)
	if err != nil {
		return nil, problem.Wrap("", err)
	}
	defer f.Close()
	var w *original
	if f.Kind == serialize.Template {
		w, err = o.fromTemplate()
	} else {
		w, err = fromCheckpoint(o.model)
	}
	if err != nil {
		return nil, err
	}
	return w, w.check()
}

func (o *options) fromTemplate() (*original, error) {
	b, err := regular.ReadAll(o.model)
	if err != nil {
		return nil, err
	}
	m, err := serialize.ParseModel(o.model, b)
	if err != nil {
		return nil, problem.Wrap("", err)
	}
	sum := sha256.Sum256(b)
	w := &original{path: o.model, template: m, sum: hex.EncodeToString(sum[:])}
	if w.chain, err = o.readChain(m); err != nil {
		return nil, err
	}
	if w.recipe, err = recipeOf(o.model, m); err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(o.model, filepath.Ext(o.model)) + ".bnc"
	k, err := serialize.ReadCheckpoint(path)
	if err != nil { // the checkpoint is optional
		return w, nil
	}
	if bytes.Equal(k.Recipe, m.Recipe) {
		w.paths, _ = progress.PathsOf(k)
	}
	if w.chain == nil {
		w.chain, err = chainIn(k, path, w)
	}
	return w, err
}

// chainIn returns the chain in a checkpoint, or nil if it does not belong to the template of w.
func chainIn(k *serialize.Checkpoint, path string, w *original) (*chain.Chain, error) {
	c, err := chain.Decode(k.Attachments[chain.Attachment])
	switch m := w.template; {
	case err != nil || m.Chain == "":
		return nil, nil
	case c.Seal(m.Recipe) == m.Chain:
		return c, nil
	case c.Seal(k.Recipe) == m.Chain:
		return nil, problem.New("", "", fmt.Sprintf("the recipe in %s was edited: the training had the one in %s",
			w.path, path), "use the file that the training wrote")
	}
	return nil, nil // the file is of another training
}

// readChain reads the chain of a template. It returns nil if the file does not exist.
func (o *options) readChain(m *models.Model) (*chain.Chain, error) {
	path := cmp.Or(o.chain, chain.Path(o.model))
	b, err := regular.ReadAll(path)
	if errors.Is(err, fs.ErrNotExist) && o.chain == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := chain.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Chain != "" && c.Seal(m.Recipe) != m.Chain {
		return nil, problem.New("", "", fmt.Sprintf("%s is not the chain of %s: the chain, or the recipe in the "+
			"template, was edited", path, o.model), "use the files that the training wrote")
	}
	return c, nil
}

func fromCheckpoint(path string) (*original, error) {
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		return nil, problem.Wrap("", err)
	}
	w := &original{path: path}
	if w.template, _, err = serialize.Strip(k); err != nil {
		return nil, err
	}
	if w.recipe, err = recipeOf(path, w.template); err != nil {
		return nil, err
	}
	if w.chain, err = chain.Decode(k.Attachments[chain.Attachment]); err != nil || len(w.chain.Links) == 0 {
		return nil, problem.New("", "", path+" has completed no epoch", "name a later checkpoint, or the template")
	}
	w.paths, err = progress.PathsOf(k)
	return w, err
}

// recipeOf returns the recipe of a model, if it can be reproduced.
func recipeOf(path string, m *models.Model) (*recipe.Recipe, error) {
	switch {
	case m.Recipe == nil:
		return nil, problem.New("", "", path+" has no recipe: bnctl did not train it",
			"name the template of a training")
	case m.Quantised != nil:
		return nil, problem.New("", "", path+" is an int8 template: its recipe is the one of its f32 template",
			"reproduce that one, and quantize it again")
	}
	r, err := recipe.Parse(m.Recipe)
	if err != nil {
		return nil, problem.New("", "", fmt.Sprintf("%s: %v", path, err), "use the release that wrote the file")
	}
	if !r.Numbered() {
		text := fmt.Sprintf("%s lists no numbers of classes and parts: release %s wrote it before there were any, "+
			"and its bits were promised within one build", path, r.Release)
		return nil, problem.New("", "", text, "use its weights as they are, or train again")
	}
	return r, nil
}

// check returns an error for a recipe that this release cannot run.
func (w *original) check() error {
	if err := w.recipe.CheckNumbers(); err != nil {
		return err
	}
	if len(w.recipe.Classes) == 0 && w.recipe.Release != recipe.Release {
		return problem.New("", "", fmt.Sprintf("kernel class %s at %s has no number: its bits are promised within "+
			"release %s", w.recipe.Kernels, w.recipe.Precision, w.recipe.Release), "use that release")
	}
	return nil
}
