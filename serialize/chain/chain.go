// Package chain defines the chain of a training: a link for each epoch, in a file with a
// line of JSON for each. Every link contains the digest of the link before it, so that its
// digest covers the whole training up to its epoch. It depends on the recipe, the data and
// the initial weights alone, never on devices, threads, ranks or interruptions.
//
// Use it to find the first epoch where two trainings differ.
package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Link describes a training at the end of an epoch. The sums are SHA-256 in hexadecimal.
type Link struct {
	Epoch int `json:"epoch"` // counted from 1
	Step  int `json:"step"`  // optimizer steps done
	// State is the sum of all that a checkpoint holds of the training: weights, statistics, optimizer.
	State string `json:"state"`
	// Evaluation is the sum of the counts and losses on the validation data; "" without evaluation.
	Evaluation string `json:"evaluation,omitempty"`
	// Prev is the digest of the link before. In the first link it is the sum of the initial weights.
	Prev string `json:"prev"`
}

// line returns the line of l in a file, without its end.
func (l Link) line() []byte {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // cannot happen: l has only numbers and strings
	}
	return b
}

// Digest returns the SHA-256 of the line of l, in hexadecimal.
func (l Link) Digest() string {
	sum := sha256.Sum256(l.line())
	return hex.EncodeToString(sum[:])
}

// Chain is the chain of a training, or the beginning of one.
type Chain struct {
	Start string // sum of the initial weights
	Links []Link
}

// Digest returns the digest of the last link; "" before the first epoch.
func (c *Chain) Digest() string {
	if c == nil || len(c.Links) == 0 {
		return ""
	}
	return c.Links[len(c.Links)-1].Digest()
}

// Seal returns the digest of c for a template with a recipe: the SHA-256 of the digest of
// the last link, a line end, and the recipe. It shows if the chain or the recipe was edited
// alone. It is "" before the first epoch.
func (c *Chain) Seal(recipe []byte) string {
	if c.Digest() == "" {
		return ""
	}
	sum := sha256.Sum256(append([]byte(c.Digest()+"\n"), recipe...))
	return hex.EncodeToString(sum[:])
}

// Add returns c with one more link, and sets the Prev of that link. A link of the same step is replaced.
func (c *Chain) Add(l Link) *Chain {
	next := &Chain{c.Start, c.linksBefore(l.Step)}
	if l.Prev = next.Digest(); l.Prev == "" {
		l.Prev = c.Start
	}
	next.Links = append(next.Links, l)
	return next
}

// linksBefore returns a copy of the links before a step.
func (c *Chain) linksBefore(step int) (links []Link) {
	for _, l := range c.Links {
		if l.Step < step {
			links = append(links, l)
		}
	}
	return links
}

// Before returns the part of c before a step.
func (c *Chain) Before(step int) *Chain { return &Chain{c.Start, c.linksBefore(step)} }

// Of returns the link of an epoch.
func (c *Chain) Of(epoch int) (Link, bool) {
	for _, l := range c.Links {
		if l.Epoch == epoch {
			return l, true
		}
	}
	return Link{}, false
}

// Bytes returns the file of c: a line for each link.
func (c *Chain) Bytes() []byte {
	var b bytes.Buffer
	for _, l := range c.Links {
		b.Write(append(l.line(), '\n'))
	}
	return b.Bytes()
}

// Parse reads the file of a chain, and checks that each link continues the one before. The
// error names the line.
func Parse(file []byte) (*Chain, error) {
	c := &Chain{}
	number := 0
	for line := range bytes.Lines(file) {
		number++
		line = bytes.TrimSuffix(line, []byte("\n"))
		var l Link
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil || !bytes.Equal(l.line(), line) {
			return nil, edited(number, "it is not a line that a training writes")
		}
		switch last := len(c.Links) - 1; {
		case last < 0:
			c.Start = l.Prev
		case l.Prev != c.Links[last].Digest():
			return nil, edited(number, "its prev is not the digest of the line before")
		case l.Step <= c.Links[last].Step || l.Epoch <= c.Links[last].Epoch:
			return nil, edited(number, "its epoch does not follow the one before")
		}
		c.Links = append(c.Links, l)
	}
	if len(c.Links) == 0 {
		return nil, problem.New("", "", "the chain is empty", "use the file that the training wrote")
	}
	return c, nil
}

func edited(line int, why string) error {
	return problem.New("", "", fmt.Sprintf("line %d: the chain was edited: %s", line, why),
		"use the file that the training wrote")
}

// Path returns the file of the chain of a template, in the same folder: "m.chain.jsonl" of "m.bnm".
func Path(template string) string {
	return strings.TrimSuffix(template, filepath.Ext(template)) + ".chain.jsonl"
}

// Attachment is the name of the attachment of checkpoints that Encode writes.
const Attachment = "chain"

// Encode returns c for a checkpoint: Start and a line end, and then the file.
func (c *Chain) Encode() []byte { return append([]byte(c.Start+"\n"), c.Bytes()...) }

// Decode reads what Encode returns.
func Decode(b []byte) (*Chain, error) {
	start, file, found := bytes.Cut(b, []byte("\n"))
	if !found || len(start) != 2*sha256.Size {
		return nil, fmt.Errorf("the chain has no beginning")
	}
	if len(file) == 0 {
		return &Chain{Start: string(start)}, nil
	}
	c, err := Parse(file)
	if err == nil && c.Start != string(start) {
		err = fmt.Errorf("line 1: the chain has another beginning")
	}
	return c, err
}
