package inspect

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
)

// TestSections checks the table of quantised layers and the list of other contents.
func TestSections(t *testing.T) {
	r := &Report{Kind: "foreign", TrainingOnly: &modelfile.Removed{Lines: []string{"opset = 13"}},
		Quantised: []formats.QuantisedLayer{{Name: "conv1", Op: "Conv", Bytes: true},
			{Name: "probabilities of all", Op: "Softmax", Reason: "there is no operator of integers for it"}}}
	want := [][]string{{
		"quantised layer       operator  computed in",
		"conv1                 Conv      bytes",
		"probabilities of all  Softmax   floats: there is no operator of integers for it",
		"1 layer in bytes, 1 in floats",
	}, {"in addition to the model:", "   opset = 13"}}
	if got := r.Sections(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("sections are %q, want %q", got, want)
	}
	if got := (&Report{}).Sections(); len(got) != 0 {
		t.Errorf("sections of a plain model are %q", got)
	}
}
