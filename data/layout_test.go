package data

import (
	"slices"
	"strings"
	"testing"
)

func membersOf(names string) []member {
	var all []member
	for name := range strings.FieldsSeq(names) {
		all = append(all, member{name: name})
	}
	return all
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		names   string
		spec    spec
		classes []string
		samples int
		part    Split
	}{
		{"b/1 a/2 a/1", spec{split: Train}, []string{"a", "b"}, 3, ""},
		{"b/1 a/2 a/1", spec{split: Test}, []string{"a", "b"}, 3, ""},
		{"x/y/b/1 x/y/a/2", spec{split: Train}, []string{"a", "b"}, 2, ""},
		{"train/a/1 test/a/1 test/a/2", spec{split: Test}, []string{"a"}, 2, Test},
		{"train/a/1 val/a/1 val/a/2", spec{split: Test, explicit: true}, []string{"a"}, 2, Test},
		{"train/a/1 test/a/1 val/b/1", spec{split: Train}, []string{"a"}, 1, Train},
		{"x/train/a/1 x/train/b/c/2 x/test/a/1 x/test/b/1", spec{split: Train}, []string{"a", "b"}, 2, Train},
		{"train/a/1 preview.png extra/x/1", spec{split: Train}, []string{"a"}, 1, Train},
		{"test/a/1", spec{split: Test}, []string{"a"}, 1, Test},
	} {
		l, err := layoutOf(membersOf(c.names))
		if err != nil {
			t.Errorf("%s: %v", c.names, err)
			continue
		}
		samples, part, err := l.pick(c.spec)
		if err != nil || !slices.Equal(classesOf(samples), c.classes) || len(samples) != c.samples ||
			part != c.part {
			t.Errorf("%s: %d samples of %q, classes %v (%v); want %d of %q, %v", c.names,
				len(samples), part, classesOf(samples), err, c.samples, c.part, c.classes)
		}
	}
}

func TestLayoutBad(t *testing.T) {
	for _, c := range []struct {
		names string
		spec  spec
		wants []string
	}{
		{"", spec{split: Train}, []string{"no pictures"}},
		{"a/1 2", spec{split: Train}, []string{"member 2", "no class folder"}},
		{"train/1 train/a/1", spec{split: Train}, []string{"member train/1", "no class folder"}},
		{"a/1 b/1", spec{split: Test, explicit: true}, []string{"@test", "leave the suffix off"}},
		{"train/a/1", spec{split: Test}, []string{"no folder test/ or val/", "@train"}},
		{"test/a/1", spec{split: Train}, []string{"no folder train/", "@test"}},
		{"train/a/1 train/b/1 test/a/1", spec{split: Train}, []string{"train/ and test/ differ", "test/ has no b"}},
		{"train/a/1 val/b/1 val/a/1", spec{split: Train}, []string{"train/ has no b"}},
		{
			"train/a/1 test/a/1 test/b/1 test/c/1 test/d/1 test/e/1 test/f/1 test/g/1", spec{split: Train},
			[]string{"b, c, d, e, f and 1 more"},
		},
	} {
		l, err := layoutOf(membersOf(c.names))
		if err == nil {
			_, _, err = l.pick(c.spec)
		}
		t.Run(c.names, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
}
