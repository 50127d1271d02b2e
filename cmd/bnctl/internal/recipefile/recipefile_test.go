package recipefile

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func recipeOf(t *testing.T, text string) (File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(path)
}

// TestRead checks that values become the same text as on a command line, whatever their type in YAML is.
func TestRead(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"recipe: {batch: 8, lr: 0.1@256, decay-all: true}":      {"batch": "8", "lr": "0.1@256", "decay-all": "true"},
		"# a\n---\nrecipe:\n  freeze: [a.*, b]\n...\n":          {"freeze": "a.*,b"},
		"%YAML 1.1\n---\nrecipe: {nesterov: yes}\n":             {"nesterov": "yes"},
		"recipe: {batch: 8}\n...\n# the end\n":                  {"batch": "8"},
		"recipe: {batch: 8}\n---\n":                             {"batch": "8"},
		"recipe: {batch: 8}\n...\n---\n# nothing\n":             {"batch": "8"},
		"recipe:\nrun:\n":                                       {},
		"":                                                      nil,
		"recipe: {seed: 18446744073709551615, momentum: 0.875}": {"seed": "18446744073709551615", "momentum": "0.875"},
	} {
		f, err := recipeOf(t, text)
		if err != nil || !maps.Equal(f.Recipe, want) {
			t.Errorf("%q is %v, %v; want %v", text, f.Recipe, err, want)
		}
	}
}

// TestBadFile checks that a file with no recipe, or with several, is refused with an error.
func TestBadFile(t *testing.T) {
	for text, want := range map[string]string{
		"recipe: {batch: 4}\n---\nrecipe: {batch: 5}\n":    "line 2: a second document",
		"recipe: {batch: 4}\n...\nrecipe: {batch: 5}\n":    "line 2: a second document",
		"recipe: {batch: 4}\n...\n%YAML 1.1\n---\nrun: {}": "line 2: a second document",
		"---\nrecipe: {batch: 4}\n--- # b\nrun: {val: x}":  "line 3: a second document",
		"recipe: {batch: }":               "recipe: batch: it has no value; write one",
		"recipe: {batch: {a: 1}}":         "recipe: batch: it is a map; write one word",
		"recipe: {mean: [[1]]}":           "recipe: mean: it is a list of lists",
		"recipe: {mean: [1, ]}\nrun: [a]": "run: it is a list, not a map of options",
		"recipe: 5":                       `recipe: it is "5", not a map of options`,
		"- a":                             "it is a list, not a map of options; write recipe: and run:",
		"hello":                           `it is "hello"`,
		strings.Repeat("x", 5000):         `it is "` + strings.Repeat("x", 40) + `", not a map`,
		"\b\a:\xff recipe":                "it is not a text; name a file of YAML, a template or a checkpoint",
		"recipe: {}\x00":                  "it is not a text",
		"batch: 4":                        `unknown field "batch"; write options below recipe: or run:`,
	} {
		if _, err := recipeOf(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestBoolean: only the words of YAML 1.1 are replaced.
func TestBoolean(t *testing.T) {
	for text, want := range map[string]string{"yes": "true", "On": "true", "NO": "false", "off": "false",
		"true": "true", "yess": "yess", "1": "1"} {
		if got := Boolean(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
