package recipefile

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

//go:embed presets
var presets embed.FS

// Presets returns the names of the built-in recipes.
func Presets() []string { return []string{"photos", "finetune", "from-scratch", "detect"} }

// Preset returns the built-in recipe with a name, and its text with comments.
func Preset(name string) (f File, text []byte, err error) {
	if !slices.Contains(Presets(), name) {
		e := problem.New("preset", strconv.Quote(name), "want one of "+strings.Join(Presets(), ", "), "")
		e.Known = Presets()
		return f, nil, e
	}
	if text, err = presets.ReadFile("presets/" + name + ".yaml"); err != nil {
		return f, nil, err
	}
	return f, text, f.parse(text)
}

// Without removes the options that an option of the command line replaces: val replaces val-split, and steps
// replaces epochs. isSet reports whether an option is set.
func (f *File) Without(isSet func(option string) bool) {
	for option, other := range map[string]string{"val-split": "val", "epochs": "steps"} {
		if isSet(other) {
			delete(f.Recipe, option)
		}
	}
}

// Text returns the options of f as the text of a file that Read accepts. text is the file of a preset. An
// option with a line in it keeps its position and its comment. Lines of options that f does not have are left
// out.
func (f *File) Text(text []byte) string {
	var b strings.Builder
	unwritten, section := maps.Clone(f.Recipe), false
	for line := range strings.Lines(string(text)) {
		name, rest, found := strings.Cut(strings.TrimSpace(line), ":")
		if section = section || name == "recipe"; !section || !found || name == "recipe" || name[0] == '#' {
			b.WriteString(line)
			continue
		}
		value, there := unwritten[name]
		if !there {
			continue
		}
		if was, _, _ := strings.Cut(rest, "#"); value != strings.TrimSpace(was) {
			line = fmt.Sprintf("  %s: %s\n", name, scalar(value)) // the line's comment is about another value
		}
		b.WriteString(line)
		delete(unwritten, name)
	}
	if len(text) == 0 {
		b.WriteString("recipe:\n")
	}
	writeOptions(&b, unwritten)
	if len(f.Run) > 0 {
		b.WriteString("run:\n")
		writeOptions(&b, f.Run)
	}
	return b.String()
}

func writeOptions(b *strings.Builder, options map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		fmt.Fprintf(b, "  %s: %s\n", name, scalar(options[name]))
	}
}

// scalar returns a value in a form that YAML reads as the same text.
func scalar(value string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("0123456789_-./@+", r)
	}
	if value != "" && value[0] != '-' && strings.TrimFunc(value, plain) == "" {
		return value
	}
	return strconv.Quote(value)
}
