package attest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/serialize/chain"
)

// template is a template, with those parts that statements name.
type template struct {
	path, sum string
	model     *models.Model
	recipe    *recipe.Recipe
	chain     *chain.Chain // nil without a file of the chain
	chainSum  string       // SHA-256 of the file of the chain
}

// RequireNative returns an error for a file of another program, because it has no recipe.
func RequireNative(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 3)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte("\x89BN")) {
		return problem.New("", "", path+" is a file of another program: it has no recipe",
			"name a template (.bnm) or a checkpoint (.bnc) that bnctl train has written")
	}
	return nil
}

// readTemplate reads a template, and its chain from chainPath or, if that is "", from the file next to the
// template. The error is a misuse if the template has no recipe, or if the chain belongs to another template.
func readTemplate(path, chainPath string) (*template, error) {
	if err := RequireNative(path); err != nil {
		return nil, err
	}
	b, err := regular.ReadAll(path)
	if err != nil {
		return nil, err
	}
	t := &template{path: path, sum: sumOf(b)}
	if t.model, err = serialize.ParseModel(path, b); err != nil {
		return nil, err
	}
	if t.model.Recipe == nil {
		return nil, problem.New("", "", path+" has no recipe: bnctl did not train it",
			"name the template of a training")
	}
	if t.recipe, err = recipe.Parse(t.model.Recipe); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, t.readChain(chainPath)
}

// readChain reads the chain, if its file exists.
func (t *template) readChain(option string) error {
	path := cmp.Or(option, chain.Path(t.path))
	b, err := regular.ReadAll(path)
	if t.model.Chain == "" || errors.Is(err, fs.ErrNotExist) && option == "" {
		return nil
	}
	if err != nil {
		return err
	}
	c, err := chain.Parse(b)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if c.Seal(t.model.Recipe) != t.model.Chain {
		return problem.New("", "", fmt.Sprintf("%s is not the chain of %s", path, t.path),
			"use the files that the training wrote")
	}
	t.chain, t.chainSum = c, sumOf(b)
	return nil
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
