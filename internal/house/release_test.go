package house

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// lineOf returns a page as one line.
func lineOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(b)), " ")
}

// TestReleaseNoteIsTrue compares the release note's statements about GPUs, libraries and
// releases with the results, the programs and the changelog.
func TestReleaseNoteIsTrue(t *testing.T) {
	note, gpus := lineOf(t, "docs/release.md"), lineOf(t, "docs/results/gpus.md")
	card := regexp.MustCompile(`\b[AHB]\d{2,3}\b`).FindString(gpus)
	if card == "" {
		t.Fatal("docs/results/gpus.md names no GPU")
	}
	for _, p := range []string{"docs/release.md", "README.md", "CHANGELOG.md", "docs/plugins.md", "docs/promises.md"} {
		text := lineOf(t, p)
		for _, claim := range []string{"CUDA device has never run", "has never run on a GPU", "have not run on hardware yet"} {
			if strings.Contains(text, claim) {
				t.Errorf("%s: %q, and docs/results/gpus.md has figures of an %s", p, claim, card)
			}
		}
		for _, claim := range []string{"There is no release yet", "no library is needed"} {
			if strings.Contains(text, claim) {
				t.Errorf("%s: %q", p, claim)
			}
		}
	}
	if !strings.Contains(note, card) || !strings.Contains(note, "results/gpus.md") {
		t.Errorf("docs/release.md does not name the %s of docs/results/gpus.md", card)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^toolchain go1\.26\.\d+$`).Match(mod) {
		t.Error("go.mod names no toolchain, with which releases are built")
	}
}
