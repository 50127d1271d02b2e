package format

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Formats with a file for each input. They are for models that give each pixel a class.
const (
	masks         = "masks"         // NAME.png: indices of classes, in the colours of PASCAL VOC
	overlays      = "overlays"      // NAME.png: the picture under its mask
	probabilities = "probabilities" // NAME.npy: f32 [C,H,W]

	pageFormat = "page" // for all models: see the method Folder.page
)

// Formats for boxes only. Other formats can write boxes, too.
const (
	COCO = "coco" // one list in COCO's results format
	yolo = "yolo" // a file NAME.txt for each picture
)

// Folders returns the formats that write a file for each input of a model that gives each pixel a
// class: masks, overlays and probabilities.
func Folders() []string { return []string{masks, overlays, probabilities} }

// IsFolder reports whether a format writes a folder: page, yolo, or one of Folders.
func IsFolder(format string) bool {
	return format == pageFormat || format == yolo || slices.Contains(Folders(), format)
}

// Fit returns the fit with that name, for a format and data. "" means the default. It is data.ScaleFit for
// formats of Folders and for pages of masks, which show whole pictures, and otherwise data.CropFit. Other
// formats permit only data.CropFit. The error is a *problem.Error about the option fit.
func Fit(format string, a *predict.Answers, name string, info data.Info) (data.Fit, error) {
	whole := slices.Contains(Folders(), format) || format == pageFormat && givesPixels(a)
	if name == "" && whole && info.Pictures() {
		return data.ScaleFit, nil
	}
	if name == "" {
		return data.CropFit, nil
	}
	f, err := data.ParseFit(name)
	if err == nil && f != data.CropFit && !whole {
		err = problem.New("fit", name, "{format} "+format+" writes the outputs of the model as they are",
			"add {format} "+strings.Join(Folders(), " or "))
	}
	return f, err
}

// CheckFolder returns an error if these predictions cannot be written into folder in the given format. Unless
// the format is page or yolo, the model must have one output of scores for each pixel, f32 [C,H,W] with 2 to
// data.MaskClasses classes. The folder must be empty; CheckFolder creates it if it does not exist. The error
// is a *problem.Error about the option format or output.
func CheckFolder(format string, a *predict.Answers, folder string) error {
	if folder == "" {
		return problem.New("format", format, "it writes a file for each input", "add {output} FOLDER")
	}
	if format == pageFormat || format == yolo {
		return emptyFolder(folder)
	}
	t := a.Type(a.Scores)
	switch {
	case len(a.Computed()) > 1:
		return problem.New("format", format, "the model has "+problem.Plural(len(a.Computed()), "output"),
			"name the output of the classes with {only}")
	case t.DType != tensor.F32 || len(t.Shape) != 3 || t.Shape[0] < 2 || t.Shape[0] > data.MaskClasses:
		return problem.New("format", format, fmt.Sprintf("output %s is %s for each input, not 2 to %d classes "+
			"for each pixel", a.Name(a.Scores), tensor.Describe(t.DType, t.Shape), data.MaskClasses), "")
	}
	return emptyFolder(folder)
}

// emptyFolder creates a folder, or checks that it is empty.
func emptyFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return problem.Wrap("output", err)
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return problem.Wrap("output", err)
	}
	if len(there) > 0 {
		return problem.New("output", folder, "the folder holds "+there[0].Name()+", which a file might replace",
			"name a new or an empty folder")
	}
	return nil
}

// Folder writes predictions into a folder, in a format that IsFolder accepts.
type Folder struct {
	Format  string
	Path    string // see CheckFolder
	Answers *predict.Answers
	Whole   predict.Whole            // how pictures are scaled for classes of pixels
	Lines   func(w io.Writer) Writer // returns a writer of predictions as JSON, for a page
	Boxes   Labels                   // makes writers of boxes as YOLO's text files
	Note    func(format string, args ...any)
}

// Labels makes writers of boxes into a folder.
type Labels interface {
	Labels(a *predict.Answers, folder string, src data.Source, note func(string, ...any)) (Writer, error)
}

// Write predicts every picture of src. It writes a page, or a file for each picture in a format of Folders.
// Files have the names of the inputs. Characters that are not permitted in a file name become underscores. If
// several inputs have the same name, the second becomes NAME-2 and so on. Call CheckFolder before. If r.GoOn
// is set, Write continues after pictures that cannot be read or that have pixels without a class, and returns
// their errors as failed.
func (f *Folder) Write(ctx context.Context, p *predict.Predictor, src data.Source, r predict.Reading) (
	failed []error, err error) {
	if f.Format == pageFormat {
		return f.page(ctx, p, src, r)
	}
	if f.Format == yolo {
		w, err := f.Boxes.Labels(f.Answers, f.Path, src, f.Note)
		if err != nil {
			return nil, err
		}
		return All(ctx, p, src, r, w)
	}
	format, w := f.Format, f.Whole
	if info := src.Info(); format == overlays && !info.Pictures() {
		return nil, problem.New("format", format, "it is for pictures; the samples are "+
			tensor.Describe(info.DType, info.Shape), "")
	}
	dst := &files{f.Path, p.Model.Outputs()[w.Output].Name, map[string]bool{}}
	write := func(i int, scores tensor.Tensor) error {
		switch format {
		case overlays:
			picture, err := p.Picture(ctx, src, w, i)
			if err != nil {
				return err
			}
			return dst.overlay(src.Name(i), scores, picture)
		case probabilities:
			return dst.probabilities(src.Name(i), p.PixelProbabilities(w, scores))
		}
		return dst.mask(src.Name(i), scores)
	}
	var none classless
	failed, err = p.Scores(ctx, src, w, r, func(i int, scores tensor.Tensor) error {
		return none.add(r, src.Name(i), write(i, scores))
	})
	return append(failed, none...), err
}

// files chooses names for files in a folder.
type files struct {
	folder string
	output string          // name of the folder, for errors
	used   map[string]bool // names in use, in lower case
}

// path returns the path of the file for an input, with the extension of the format.
func (f *files) path(input, extension string) string {
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(input)), filepath.Ext(input))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, name)
	free := name
	for n := 2; f.used[strings.ToLower(free)]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	f.used[strings.ToLower(free)] = true
	return filepath.Join(f.folder, free+extension)
}
