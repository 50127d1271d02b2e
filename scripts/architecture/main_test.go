package main

import (
	"os"
	"reflect"
	"testing"
)

// The picture in docs agrees with the imports of the present code.
func TestPictureIsCurrent(t *testing.T) {
	want, err := drawn("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../" + picture)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the imports say: run go run ./scripts/architecture", picture)
	}
}

// Every caption belongs to a folder that exists.
func TestCaptions(t *testing.T) {
	needs, err := imports("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name := range captions {
		if needs[name] == nil {
			t.Errorf("there is no folder %s", name)
		}
	}
}

func TestArranged(t *testing.T) {
	set := func(names ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	got := arranged(graph{"a": set("b", "c", "problem"), "b": set("c"), "c": set(), "d": set("c", "e"),
		"e": set("d"), "problem": set()})
	want := layout{rows: [][]string{{"a", "d", "e"}, {"b"}, {"c"}},
		arrows: [][2]string{{"a", "b"}, {"b", "c"}, {"d", "c"}, {"d", "e"}, {"e", "d"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
