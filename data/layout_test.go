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
		{"train/a/1 val/a/1 val/a/2", spec{split: Test, explicit: true}, []string{"a"}, 2, Val},
		{"train/a/1 val/a/1 val/a/2 test/a/1", spec{split: Val}, []string{"a"}, 2, Val},
		{"train/a/1 val/a/1 val/a/2 test/a/1", spec{split: Val, explicit: true}, []string{"a"}, 2, Val},
		{"train/a/1 val/a/1 val/a/2 test/a/1", spec{split: Test}, []string{"a"}, 1, Test},
		{"train/a/1 test/a/1 test/a/2", spec{split: Val}, []string{"a"}, 2, Test},
		{"Training/a/1 Testing/a/1 Testing/a/2", spec{split: Val}, []string{"a"}, 2, Test},
		{"TRAIN/a/1 Valid/a/1 Valid/a/2 Test/a/1", spec{split: Val}, []string{"a"}, 2, Val},
		{"x/Train/a/1 x/validation/a/1 x/validation/a/2", spec{split: Val}, []string{"a"}, 2, Val},
		{"train/1 bus/1 car/1", spec{split: Train}, []string{"bus", "car", "train"}, 3, ""},
		{"Test/1 test/2 other/1", spec{split: Val}, []string{"Test", "other", "test"}, 3, ""},
		// val and test may lack classes: labels are numbered as in train.
		{"train/a/1 train/b/1 test/b/1", spec{split: Test}, []string{"a", "b"}, 1, Test},
		{"train/a/1 train/b/1 val/b/1 test/a/1", spec{split: Val}, []string{"a", "b"}, 1, Val},
		{"val/b/1 test/a/1", spec{split: Test}, []string{"a", "b"}, 1, Test},
		{"x/train/a/1 x/train/b/c/2 x/test/a/1 x/test/b/1", spec{split: Train}, []string{"a", "b"}, 2, Train},
		{"test/a/1", spec{split: Test}, []string{"a"}, 1, Test},
		// The folders of the classes may contain the folders of the splits.
		{"a/train/1 a/train/2 b/train/1 a/val/1 b/val/x/1", spec{split: Val}, []string{"a", "b"}, 2, Val},
		{"x/a/Train/1 x/a/Train/2 x/b/Train/1 x/a/Valid/1", spec{split: Train}, []string{"a", "b"}, 3, Train},
		{"a/train/1 b/train/1 b/other/1", spec{split: Train}, []string{"a", "b"}, 3, ""},
	} {
		l, err := layoutOf(membersOf(c.names))
		if err != nil {
			t.Errorf("%s: %v", c.names, err)
			continue
		}
		samples, part, err := l.pick(c.spec)
		if err != nil || !slices.Equal(l.classes(), c.classes) || len(samples) != c.samples ||
			part != c.part {
			t.Errorf("%s: %d samples of %q, classes %v (%v); want %d of %q, %v", c.names,
				len(samples), part, l.classes(), err, c.samples, c.part, c.classes)
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
		{"train/a/1", spec{split: Val}, []string{"no folder val/ or test/", "@train"}},
		{"train/a/1 test/a/1", spec{split: Val, explicit: true}, []string{"no folder val/ in it", "@test"}},
		{"a/1 b/1", spec{split: Val, explicit: true}, []string{"@val", "leave the suffix off"}},
		{"train/a/1 train/b/1 extra/c/1", spec{split: Train}, []string{"extra/ lies beside train/", "out of the folder"}},
		{"train/a/1 Test/a/1 c/1", spec{split: Train}, []string{"c/ lies beside Test/ and train/"}},
		{"train/a/1 preview.png", spec{split: Train}, []string{"preview.png lies beside train/"}},
		{"val/a/1 valid/a/1", spec{split: Train}, []string{"val/ and valid/ are both the part val"}},
		{"test/a/1", spec{split: Train}, []string{"no folder train/", "@test"}},
		{"train/a/1 val/b/1 val/a/1", spec{split: Train}, []string{"val/ has a class that train/ lacks: b"}},
		{"train/a/1 val/a/1 test/b/1 test/a/1", spec{split: Train}, []string{"test/ has a class that train/ lacks: b"}},
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
