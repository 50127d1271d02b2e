package format

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// CheckMasks refuses what Masks cannot write: answers that are not one output of
// a class for each pixel, f32 [C,H,W] of 2 to data.MaskClasses classes, and a
// folder that is none, or that holds something: a mask may have the name of the
// picture that it is of. The error is a *problem.Error of format or output.
func CheckMasks(a *predict.Answers, folder string) error {
	if folder == "" {
		return problem.New("format", "masks", "it writes a file for each input", "add {output} FOLDER")
	}
	f := a.Model.Graph.Main
	t := f.Values[f.Outputs[a.Chosen[0]].Value].Type
	switch {
	case len(a.Chosen) > 1:
		return problem.New("format", "masks", "the model has "+problem.Counted(len(a.Chosen), "output"),
			"name that of the classes with {only}")
	case t.DType != tensor.F32 || len(t.Shape) != 3 || t.Shape[0] < 2 || t.Shape[0] > data.MaskClasses:
		return problem.New("format", "masks", fmt.Sprintf("output %s is %s for each input, not 2 to %d classes "+
			"for each pixel", a.Name(a.Chosen[0]), tensor.Describe(t.DType, t.Shape), data.MaskClasses), "")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return problem.Wrap("output", err)
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return problem.Wrap("output", err)
	}
	if len(there) > 0 {
		return problem.New("output", folder, "the folder holds "+there[0].Name()+", which a mask might replace",
			"name a new or an empty folder")
	}
	return nil
}

// Masks returns what writes the mask of each input into a folder, as NAME.png:
// an indexed picture whose pixels are the numbers of the classes, the first of
// equal ones, in the colours of the PASCAL VOC masks. Inputs of one name get
// NAME-2.png and so on. CheckMasks comes first.
func Masks(a *predict.Answers, folder string) Writer {
	return &masks{a, folder, map[string]bool{}}
}

type masks struct {
	*predict.Answers
	folder string
	taken  map[string]bool // names of files, in small letters
}

func (w *masks) Write(input string, outs []tensor.Tensor) error {
	scores := outs[w.Chosen[0]]
	h, wide := scores.Shape[1], scores.Shape[2]
	mask := image.NewPaletted(image.Rect(0, 0, wide, h), data.MaskPalette)
	places := h * wide
	all := scores.F32()
	for i, v := range all {
		if v != v {
			return fmt.Errorf("%s: the score of class %d is no number at pixel %d, %d: there is no mask", input,
				i/places, i%places%wide, i%places/wide)
		}
	}
	for at := range mask.Pix {
		best := 0
		for class := range scores.Shape[0] {
			if all[class*places+at] > all[best*places+at] {
				best = class
			}
		}
		mask.Pix[at] = byte(best)
	}
	return serialize.WriteFile(w.path(input), func(to io.Writer) error { return png.Encode(to, mask) })
}

func (w *masks) End() error { return nil }

// path returns the file for an input. What a file should not be called becomes
// an underscore.
func (w *masks) path(input string) string {
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(input)), filepath.Ext(input))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, name)
	free := name
	for n := 2; w.taken[strings.ToLower(free)]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	w.taken[strings.ToLower(free)] = true
	return filepath.Join(w.folder, free+".png")
}
