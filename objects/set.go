package objects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Object is an annotated object of a picture.
type Object struct {
	Box       Box
	Class     int     // index into Set.Classes
	Area      float64 // area of the mask in square pixels, or of the box if there is no mask
	Difficult bool    // VOC's flag: the object is neither a hit nor a miss
	Crowd     bool    // COCO's flag: the box has many objects

	line int // line of the annotation in its file
}

// Picture is a picture with its objects.
type Picture struct {
	Name          string // name of the file; slash-separated, relative to the folder or archive
	ID            int64  // COCO's number of the picture; otherwise its index in the set before Select
	Width, Height int    // size of the upright picture, in pixels
	Split         data.Split
	Objects       []Object

	file       string // the annotation file
	line       int    // line in file
	dimensions images.Dimensions
	read       func() ([]byte, error) // reads the picture's file; nil if there is none
}

// Set is a set of annotated pictures. It is valid until Close.
type Set struct {
	Spec     string
	Classes  []string
	Numbers  []int64 // COCO's number of each class; otherwise the index of the class
	Pictures []Picture
	Notes    []string // remarks for the user

	files *data.Files
}

// Close closes the archive of the pictures.
func (s *Set) Close() error {
	if s.files == nil {
		return nil
	}
	return s.files.Close()
}

// HasNumbers reports whether the pictures have numbers in the annotations, as in COCO.
func (s *Set) HasNumbers() bool { return strings.HasPrefix(s.Spec, "coco:") }

// File returns the bytes of the file of picture i.
func (s *Set) File(i int) ([]byte, error) {
	p := &s.Pictures[i]
	if p.read == nil {
		return nil, problem.Failure("", s.Spec+": "+p.Name+": there is no such file",
			"put the pictures next to the annotations")
	}
	b, err := p.read()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", s.Spec, p.Name, err)
	}
	return b, nil
}

// Decode returns picture i, turned upright, u8 [height, width, 3].
func (s *Set) Decode(ctx context.Context, i int) (tensor.Tensor, error) {
	b, err := s.File(i)
	if err != nil {
		return tensor.Tensor{}, err
	}
	t, err := images.Decode(ctx, b, true)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %s: %w", s.Spec, s.Pictures[i].Name, err)
	}
	return t, nil
}

// Select returns a set with the pictures of one split, or all pictures for "". It shares the files of s: it
// is enough to close one of the two.
func (s *Set) Select(split data.Split) (*Set, error) {
	if split == "" {
		return s, nil
	}
	selected := *s
	selected.Pictures = slices.DeleteFunc(slices.Clone(s.Pictures), func(p Picture) bool {
		return p.Split != split
	})
	if len(selected.Pictures) == 0 {
		return nil, problem.Failure("", fmt.Sprintf("%s: none of %s is in %s", s.Spec,
			problem.Plural(len(s.Pictures), "picture"), split), "name another split, or leave @"+
			string(split)+" off")
	}
	return &selected, nil
}

// CheckObjects returns an error if no picture has an object, because figures of precision and recall would
// mean nothing.
func (s *Set) CheckObjects() error {
	splits := map[data.Split]bool{}
	for _, p := range s.Pictures {
		if len(p.Objects) > 0 {
			return nil
		}
		splits[p.Split] = true
	}
	where := ""
	if len(splits) == 1 && s.Pictures[0].Split != "" {
		where = " in " + string(s.Pictures[0].Split)
	}
	return problem.Failure("", fmt.Sprintf("%s: none of %s%s has a box", s.Spec,
		problem.Plural(len(s.Pictures), "picture"), where), "choose a split with annotated pictures")
}
