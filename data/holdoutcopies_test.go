package data

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pictureOf returns a source of eight cats and eight dogs. Each element of equal has the paths of pictures
// that are made equal to each other.
func pictureOf(t *testing.T, equal ...string) Source {
	var files []file
	for class, name := range []string{"cat", "dog"} {
		for i := range 8 {
			path, grey := fmt.Sprintf("%s/%d.png", name, i), byte(8*class+i)
			for k, set := range equal {
				if strings.Contains(set, path) {
					grey = byte(100 + k)
				}
			}
			files = append(files, file{path, pngOf(t, 3, 3, grey)})
		}
	}
	return open(t, "folder:"+unpack(t, files), Options{})
}

// The expected samples follow from the order of the hashes, which were computed with Python's hashlib as in
// TestHoldout: cats 1 6 0 4 7 3 2 5, dogs 2 0 4 5 3 6 7 1.
func TestHoldoutOfCopies(t *testing.T) {
	for _, c := range []struct {
		h      Holdout
		equal  []string
		want   string
		copies int
	}{
		{Holdout{Fraction: 0.25}, nil, "cat/1.png cat/6.png dog/0.png dog/2.png", 0},
		{Holdout{Fraction: 0.25}, []string{"cat/1.png cat/3.png"}, "cat/1.png cat/3.png dog/0.png dog/2.png", 2},
		{Holdout{Fraction: 0.25}, []string{"cat/1.png cat/3.png cat/5.png"}, "cat/0.png cat/6.png dog/0.png dog/2.png", 3},
		{Holdout{Fraction: 0.25}, []string{"cat/6.png dog/2.png"}, "cat/0.png cat/1.png dog/0.png dog/4.png", 2},
		{Holdout{Fraction: 0.25, IgnoreCopies: true}, []string{"cat/6.png dog/2.png"},
			"cat/1.png cat/6.png dog/0.png dog/2.png", 0},
		{Holdout{Fraction: 0.25}, []string{"cat/0.png cat/1.png cat/2.png", "cat/3.png cat/4.png cat/5.png cat/6.png cat/7.png"},
			"cat/0.png cat/1.png cat/2.png dog/0.png dog/2.png", 8},
	} {
		out, err := c.h.Split(t.Context(), pictureOf(t, c.equal...))
		if err != nil {
			t.Fatal(err)
		}
		got := pathsOf(out.Validation)
		if slices.Sort(got); strings.Join(got, " ") != c.want || out.Copies != c.copies {
			t.Errorf("%+v %v: %v, %d copies; want %s, %d", c.h, c.equal, got, out.Copies, c.want, c.copies)
		}
	}
}

// TestHoldoutOfGroupsWithCopies: groups that have a picture in common are in the same part.
func TestHoldoutOfGroupsWithCopies(t *testing.T) {
	h := Holdout{Fraction: 0.25, Groups: `(\d)\.png`}
	for _, equal := range []string{"cat/2.png cat/7.png", "cat/2.png dog/7.png dog/0.png"} {
		out, err := h.Split(t.Context(), pictureOf(t, equal))
		if err != nil {
			t.Fatal(err)
		}
		sides := map[Source]int{}
		for _, part := range []Source{out.Training, out.Validation} {
			for _, path := range pathsOf(part) {
				if strings.Contains(equal, path) {
					sides[part]++
				}
			}
		}
		if len(sides) != 1 {
			t.Errorf("%s are on both sides: %v", equal, pathsOf(out.Validation))
		}
	}
	_, err := Holdout{Fraction: 0.5, Groups: "^..."}.Split(t.Context(), pictureOf(t, "cat/2.png dog/7.png"))
	wantError(t, err, "all of 2 groups have equal pictures in common", "remove the copies")
}

// TestHoldoutOfOneCopiedPicture: if all pictures of a class are equal, the class stays in training.
func TestHoldoutOfOneCopiedPicture(t *testing.T) {
	dir := unpack(t, []file{{"cat/1.png", pngOf(t, 3, 3, 1)}, {"cat/2.png", pngOf(t, 3, 3, 1)},
		{"dog/3.png", pngOf(t, 3, 3, 2)}, {"dog/4.png", pngOf(t, 3, 3, 3)}})
	out, err := Holdout{Fraction: 0.5}.Split(t.Context(), open(t, "folder:"+dir, Options{}))
	if err != nil || fmt.Sprint(out.Single) != "[cat]" || out.Validation.Info().Len != 1 {
		t.Errorf("%+v, %v; want cat as a single", out, err)
	}
	if err := os.Remove(filepath.Join(dir, "dog/4.png")); err != nil {
		t.Fatal(err)
	}
	_, err = Holdout{Fraction: 0.5}.Split(t.Context(), open(t, "folder:"+dir, Options{}))
	wantError(t, err, "no class has two samples")
}
