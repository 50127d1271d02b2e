package data

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listed is a source with paths, class numbers and groups, but without samples.
type listed struct {
	*numbered
	paths  []string
	labels []int32
	groups []string
}

func (l *listed) Info() Info {
	return Info{Kind: "listed", Len: len(l.paths), Labelled: true, Classes: []string{"cat", "dog", "eel"}}
}
func (l *listed) Label(_ context.Context, i int) ([]int32, error) { return l.labels[i : i+1], nil }
func (l *listed) path(i int) string                               { return l.paths[i] }
func (l *listed) grouped() bool                                   { return l.groups != nil }
func (l *listed) group(i int) string                              { return l.groups[i] }

// animals returns seven cats, three dogs and some eels.
func animals(eels int) *listed {
	l := &listed{numbered: whole(0)}
	for i := range 7 {
		l.paths, l.labels = append(l.paths, fmt.Sprintf("cat/%d.png", i)), append(l.labels, 0)
	}
	for i := range 3 {
		l.paths, l.labels = append(l.paths, fmt.Sprintf("dog/sub/%d.png", i)), append(l.labels, 1)
	}
	for i := range eels {
		l.paths, l.labels = append(l.paths, fmt.Sprintf("eel/%d.png", i)), append(l.labels, 2)
	}
	return l
}

func pathsOf(src Source) (paths []string) {
	s := src.(*subset)
	for _, i := range s.chosen {
		paths = append(paths, pathOf(s.Source, i))
	}
	return paths
}

// The expected samples were selected in Python, with hashlib:
//
//	sorted(names, key=lambda n: hashlib.sha256(f"{seed}\0{n}".encode()).digest())[:k]
func TestHoldout(t *testing.T) {
	for _, c := range []struct {
		h    Holdout
		want string
	}{
		{Holdout{Fraction: 0.3}, "cat/1.png cat/6.png dog/sub/1.png"},
		{Holdout{Fraction: 0.3, Seed: 7}, "cat/4.png cat/5.png dog/sub/1.png"},
		{Holdout{Fraction: 0.01}, "cat/1.png dog/sub/1.png"},
		{Holdout{Fraction: 0.99}, "cat/0.png cat/1.png cat/2.png cat/3.png cat/4.png cat/6.png dog/sub/1.png dog/sub/2.png"},
	} {
		src := animals(1)
		for _, reversed := range []bool{false, true} {
			if reversed {
				slices.Reverse(src.paths)
				slices.Reverse(src.labels)
			}
			out, err := c.h.Split(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			got := pathsOf(out.Validation)
			if slices.Sort(got); strings.Join(got, " ") != c.want || !slices.Equal(out.Single, []string{"eel"}) {
				t.Errorf("%+v: %v, single %v; want %s, single eel", c.h, got, out.Single, c.want)
			}
			if i := out.Training.Info(); i.Len != 11-len(got) || i.Split != Train {
				t.Errorf("%+v: %d left in %q, %d set apart", c.h, i.Len, i.Split, len(got))
			}
		}
	}
}

func TestHoldoutOfNumbers(t *testing.T) {
	src := &listed{numbered: whole(0), paths: make([]string, 10), labels: make([]int32, 10)}
	out, err := Holdout{Fraction: 0.3}.Split(t.Context(), src)
	if got := out.Validation.(*subset).chosen; err != nil || !slices.Equal(got, []int{1, 4, 8}) {
		t.Errorf("%v, %v; want 1, 4 and 8", got, err)
	}
}

func TestHoldoutOfGroups(t *testing.T) {
	src := animals(0)
	src.groups = strings.Fields("a b c d e a b c d e")
	for _, c := range []struct {
		h    Holdout
		want string
	}{
		{Holdout{Fraction: 0.4, Groups: groupColumn}, "c d"},
		{Holdout{Fraction: 0.4, Seed: 1, Groups: groupColumn}, "a e"},
	} {
		out, err := c.h.Split(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []Source{out.Training, out.Validation} {
			for _, i := range part.(*subset).chosen {
				if strings.Contains(c.want, src.groups[i]) != (part == out.Validation) {
					t.Errorf("%+v: sample %d of group %s is on the wrong side", c.h, i, src.groups[i])
				}
			}
		}
	}
	out, err := Holdout{Fraction: 0.3, Groups: `(\d)\.png`}.Split(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	sides := map[byte]Source{}
	for _, part := range []Source{out.Training, out.Validation} {
		for _, path := range pathsOf(part) {
			number := path[len(path)-5]
			if side, ok := sides[number]; ok && side != part {
				t.Errorf("group %c is on both sides", number)
			}
			sides[number] = part
		}
	}
}

func TestHoldoutRefused(t *testing.T) {
	dogs := animals(0)
	dogs.groups = strings.Fields("a a a a a a a b b b")
	for _, c := range []struct {
		h     Holdout
		src   Source
		wants []string
	}{
		{Holdout{Fraction: 1}, animals(0), []string{"val-split 1", "0.2"}},
		{Holdout{Fraction: -1}, animals(0), []string{"val-split -1"}},
		{Holdout{Seed: 1}, animals(0), []string{"nothing is set apart"}},
		{Holdout{Fraction: 0.5, Groups: "("}, animals(0), []string{"split-groups", "no regular expression"}},
		{Holdout{Fraction: 0.5, Groups: "cat"}, animals(0), []string{"it finds nothing in dog/sub/0.png"}},
		{Holdout{Fraction: 0.5, Groups: "..png"}, animals(0), nil},
		{Holdout{Fraction: 0.5, Groups: "png"}, animals(0), []string{"all samples are of one group", `"png"`}},
		{Holdout{Fraction: 0.5, Groups: groupColumn}, animals(0), []string{"listed has no column group"}},
		{Holdout{Fraction: 0.5, Groups: groupColumn}, dogs, []string{"no sample is left to train on of class"}},
	} {
		_, err := c.h.Split(t.Context(), c.src)
		if c.wants == nil && err != nil {
			t.Errorf("%+v: %v", c.h, err)
		}
		if c.wants != nil {
			wantError(t, err, c.wants...)
		}
	}
}

// A folder and an archive of it are divided in the same way. Later the two parts can be opened by the
// suffixes of the data.
func TestOpenHeldOut(t *testing.T) {
	var files []file
	for i := range 5 {
		files = append(files, file{fmt.Sprintf("cat/%d.png", i), pngOf(t, 2, 2, byte(i))},
			file{fmt.Sprintf("dog/%d.png", i), pngOf(t, 2, 2, byte(10+i))})
	}
	folder := "folder:" + unpack(t, files)
	archive := "folder:" + write(t, "pets.zip", zipOf(t, files))
	h := Holdout{Fraction: 0.4, Seed: 3}
	out, err := h.Split(t.Context(), open(t, folder, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := out.Fingerprint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for split, want := range map[Split]Source{Train: out.Training, Val: out.Validation} {
		src, err := OpenHeldOut(t.Context(), archive+"@"+string(split), Options{Split: Test}, h, whole)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		mine, err1 := src.Fingerprint(t.Context())
		theirs, err2 := want.Fingerprint(t.Context())
		if mine != theirs || err1 != nil || err2 != nil {
			t.Errorf("@%s of the archive is %v, of the folder %v (%v, %v)", split, pathsOf(src), pathsOf(want), err1, err2)
		}
	}
	parts := "folder:" + unpack(t, []file{{"val/cat/1.png", files[0].content}, {"val/dog/1.png", files[1].content}})
	src, err := OpenHeldOut(t.Context(), parts+"@val", Options{}, h, whole)
	if err != nil || src.Info().Len != 2 {
		t.Errorf("a val of data without train: %v", err)
	}
	files[0].content = pngOf(t, 2, 2, 99)
	_, err = OpenHeldOut(t.Context(), "folder:"+unpack(t, files)+"@val", Options{}, h, whole)
	wantError(t, err, "of other data", whole[:12], "the data of the training")
}

// If every class has only one sample, no sample can be set apart. The error names the option for the split.
func TestNothingToSetApart(t *testing.T) {
	src := open(t, tableOf(t, "", "path,label\n0.png,a\n1.png,b\n"), Options{})
	_, err := (Holdout{Fraction: 0.5}).Split(t.Context(), src)
	wantError(t, err, "val-split", "no class has two samples")
}
