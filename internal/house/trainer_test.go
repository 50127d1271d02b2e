package house

import (
	"slices"
	"strings"
	"testing"
)

// TestPredictionNeedsNoTrainer fails when a package below predict, server or modelfile imports package
// train, directly or through other packages: a program that predicts has no trainer in it. TestLayers
// keeps the table of imports true.
func TestPredictionNeedsNoTrainer(t *testing.T) {
	imports := map[string][]string{}
	for line := range strings.Lines(layers) {
		if pkg, deps, ok := strings.Cut(line, ":"); ok {
			imports[pkg] = append(imports[pkg], strings.Fields(deps)...)
		}
	}
	checked := 0
	for pkg := range imports {
		if !under(pkg+"/", "predict/", "server/", "modelfile/") {
			continue
		}
		checked++
		if path := importPath(imports, []string{pkg}, "train"); path != nil {
			t.Errorf("%s imports train: %s", pkg, strings.Join(path, " -> "))
		}
	}
	if checked < 10 {
		t.Errorf("%d packages were checked, want at least 10", checked)
	}
	if importPath(imports, []string{"cmd/bnctl/internal/bench"}, "train") == nil {
		t.Error("the import of train by the command is not found: the test shows nothing")
	}
}

// importPath returns the packages from the last of path to wanted, each of which imports the next; nil if
// it is never imported.
func importPath(imports map[string][]string, path []string, wanted string) []string {
	last := path[len(path)-1]
	if last == wanted {
		return path
	}
	for _, dep := range imports[last] {
		if found := importPath(imports, append(slices.Clone(path), dep), wanted); found != nil {
			return found
		}
	}
	return nil
}
