package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

// countingFolders are the folders with texts for people who train, strip and predict.
var countingFolders = []string{"cmd/bnctl", "cmd/bnctl/internal/bench", "cmd/bnctl/internal/format",
	"cmd/bnctl/internal/study", "cmd/bnctl/internal/study/experiment", "data", "data/augmentation", "data/images", "data/tables", "fleet", "modelfile",
	"modelfile/doctor", "formats", "modelfile/inspect", "modelfile/strip", "models", "predict", "server", "train", "."}

// plural matches a number of things and the word before the number. Some of these words show that the number
// is a limit above 1.
var plural = regexp.MustCompile(`(\S+ )?%d ([a-z]+s)\b`)

// TestCountsHaveTheirPlural checks that problem.Plural writes numbers of things, so that "1" is not followed
// by a plural.
func TestCountsHaveTheirPlural(t *testing.T) {
	limits := []string{"most ", "than ", "least ", "want ", "to ", "above ", "these ", "all ", "x "}
	verbs := []string{"is", "has", "was", "does", "makes", "stands"}
	for _, folder := range countingFolders {
		set, files := sources(t, folder, 0)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if !ok || text.Kind != token.STRING {
					return true
				}
				for _, m := range plural.FindAllStringSubmatch(text.Value, -1) {
					if !slices.Contains(limits, m[1]) && !slices.Contains(verbs, m[2]) {
						t.Errorf("%v: %q: write the number with problem.Plural", set.Position(n.Pos()), m[0])
					}
				}
				return true
			})
		}
	}
}
