package chain

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// start is a sum of initial weights.
var start = strings.Repeat("ab", 32)

func sample() *Chain {
	c := &Chain{Start: start}
	for epoch := 1; epoch <= 3; epoch++ {
		c = c.Add(Link{Epoch: epoch, Step: 4 * epoch, State: strings.Repeat("0"+string(rune('0'+epoch)), 32)})
	}
	return c
}

// TestRoundTrip checks that a chain is read as it was written, from its file and from a checkpoint.
func TestRoundTrip(t *testing.T) {
	c := sample()
	if got, err := Parse(c.Bytes()); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("the file is read as %+v, %v", got, err)
	}
	for _, c := range []*Chain{c, {Start: start}} {
		if got, err := Decode(c.Encode()); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("the attachment is read as %+v, %v", got, err)
		}
	}
	if c.Links[0].Prev != start || c.Links[2].Prev != c.Links[1].Digest() {
		t.Error("a link does not cover the one before")
	}
}

// TestAddAgain checks that a link of the same step replaces the first one, as after an interruption.
func TestAddAgain(t *testing.T) {
	c := sample()
	if got := c.Add(c.Links[2]); !reflect.DeepEqual(got, c) {
		t.Errorf("added again: %+v", got)
	}
}

// TestEveryBitIsCovered changes each bit of a file. A change before the last line breaks
// the chain, and a change of the last line changes the digest.
func TestEveryBitIsCovered(t *testing.T) {
	c := sample()
	file, digest := c.Bytes(), c.Digest()
	for i := range file {
		for bit := range 8 {
			b := bytes.Clone(file)
			b[i] ^= 1 << bit
			if got, err := Parse(b); err == nil && got.Digest() == digest && got.Start == start {
				t.Fatalf("bit %d of byte %d is not covered", bit, i)
			}
		}
	}
}

// TestEdited checks the sentences for a chain that was edited.
func TestEdited(t *testing.T) {
	lines := strings.SplitAfter(string(sample().Bytes()), "\n")
	for name, c := range map[string]struct{ file, want string }{
		"changed": {strings.Replace(strings.Join(lines, ""), `"step":4`, `"step":3`, 1),
			"line 2: the chain was edited: its prev"},
		"left out": {lines[0] + lines[2], "line 2: the chain was edited: its prev"},
		"spaced":   {" " + lines[0], "line 1: the chain was edited: it is not a line that a training writes"},
		"empty":    {"", "the chain is empty"},
		"other":    {"{\"a\":1}\n", "line 1: the chain was edited"},
	} {
		if _, err := Parse([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
