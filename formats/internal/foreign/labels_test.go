package foreign

import (
	"slices"
	"testing"
)

// TestParseLabels reads the formats of Ultralytics, Deepness and others, and nothing else.
func TestParseLabels(t *testing.T) {
	pets := []string{"cat", "dog"}
	for text, want := range map[string][]string{
		`{0: 'cat', 1: 'dog'}`: pets, `{"0": "cat", "1": "dog"}`: pets, `{1: "dog", 0: "cat"}`: pets,
		`['cat', 'dog']`: pets, `["cat","dog"]`: pets, `("cat", "dog",)`: pets, `{'cat': 0, "dog": 1}`: pets,
		"0:cat\n1: dog": pets, "cat\ndog\n": pets, "cat, dog": pets,
		`{0: "it's", 1: 'a "b"\n\\'}`: {"it's", "a \"b\"\n\\"}, `["\u00e9", 'é']`: {"é", "é"},
		`["a, b", "c: d"]`: {"a, b", "c: d"},
		``:                 nil, `cat`: nil, `80`: nil, `[]`: nil, `{}`: nil, `[1, 2]`: nil, `{0: 'cat', 2: 'dog'}`: nil,
		`{0: 'cat', 0: 'dog'}`: nil, `{0: 1}`: nil, `['cat'`: nil, `['cat'] x`: nil, `{'cat', 'dog'}`: nil,
		`['cat' 'dog']`: nil,
		`["\q"]`:        nil, `[["a"], ["b"]]`: nil, `{"a": {"b": 0}}`: nil, "a,\xff": nil, "a,,b": nil,
	} {
		if got := ParseLabels(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzParseLabels: written labels are read again, and no input makes the reader panic.
func FuzzParseLabels(f *testing.F) {
	f.Add(`{0: 'cat', 1: "d\u00f6g"}`)
	f.Add("0:cat\n1:dog")
	f.Fuzz(func(t *testing.T, text string) {
		names := ParseLabels(text)
		if again := ParseLabels(LabelText(names)); len(names) > 0 && !slices.Equal(names, again) {
			t.Errorf("%q was written as %s and comes back as %q", names, LabelText(names), again)
		}
	})
}
