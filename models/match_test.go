package models_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

func TestMatchClasses(t *testing.T) {
	numbers := []string{"0", "1", "2"}
	for _, c := range []struct {
		labels  []string
		count   int
		classes []string
		to      []int
		missing []string
		note    string // part of the note; if to is nil, part of the error
	}{
		{[]string{"cat", "dog"}, 2, []string{"cat", "dog"}, []int{0, 1}, nil, ""},
		{[]string{"dog", "cat"}, 2, []string{"cat", "dog"}, []int{1, 0}, nil, ""},
		{[]string{"dog", "cat", "ant"}, 3, []string{"ant", "dog"}, []int{2, 0}, []string{"cat"}, "lacks 1 class"},
		{[]string{"2", "0", "1"}, 3, numbers, []int{1, 2, 0}, nil, ""},
		// Classes of data called 0, 1, 2 are the model's classes with these numbers, unless the
		// model's labels are numbers.
		{[]string{"cat", "dog", "ant"}, 3, numbers, []int{0, 1, 2}, nil, ""},
		{[]string{"cat", "dog", "ant"}, 3, numbers[:2], []int{0, 1}, []string{"ant"}, "lacks 1 class of the model: ant"},
		{nil, 4, numbers, []int{0, 1, 2}, []string{"3"}, "lacks 1 class of the model: 3"},
		{nil, 2, []string{"cat", "dog"}, []int{0, 1}, nil, "in their order, 2 (cat, dog); {labels} says others"},
		{nil, 1000, []string{"cat", "dog"}, nil, nil, "no names for its 1000 classes, and folder has 2 (cat, dog)"},
		{nil, 2, numbers, nil, nil, "no names for its 2 classes, and folder has 3"},
		{[]string{"cat", "dog"}, 2, []string{"cat", "owl"}, nil, nil, "owl is none of the model's"},
		{[]string{"cat", "dog"}, 2, numbers, nil, nil, "0 is none of the model's"},
		{[]string{"crane", "dog", "crane"}, 3, []string{"crane"}, nil, nil, "two classes of the model are called so"},
		{[]string{"crane", "dog", "crane"}, 3, []string{"dog"}, []int{1}, []string{"crane", "crane"}, "2 classes"},
	} {
		k, err := models.MatchClasses(c.labels, c.count, "folder", c.classes)
		says := k.String()
		if err != nil {
			says = err.Error()
		}
		if (err == nil) != (c.to != nil) || err == nil && (!slices.Equal(k.To, c.to) || !slices.Equal(k.Missing,
			c.missing)) || !strings.Contains(says, c.note) || says != "" && c.note == "" {
			t.Errorf("%v of %d, data %v: %v, missing %v, says %q; want %v, %v, %q", c.labels, c.count, c.classes, k.To,
				k.Missing, says, c.to, c.missing, c.note)
		}
	}
}

func TestRowsByLabel(t *testing.T) {
	for _, c := range []struct {
		was, now string
		want     []int
	}{
		{"abc", "abc", []int{0, 1, 2}},
		{"abc", "cab", []int{2, 0, 1}},
		{"abc", "ac", []int{0, 2, 1}},
		{"abc", "xyz", []int{0, 1, 2}}, // no common label: all rows stay
		{"abc", "xab", []int{2, 0, 1}},
		{"abc", "xby", []int{0, 1, 2}},
		{"abc", "", []int{0, 1, 2}},
		{"aba", "ba", []int{1, 0, 2}},
	} {
		got := models.PermutationByLabel(strings.Split(c.was, ""), strings.Split(c.now, ""))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.was, c.now, got, c.want)
		}
	}
}
