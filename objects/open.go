package objects

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/problem"
)

// Options control how a set is opened. The zero value is valid.
type Options struct {
	// OnlyAnnotations permits pictures without a file, if their sizes are in the annotations.
	OnlyAnnotations bool
}

// kinds has the function that reads each kind of set, by the name of the kind.
var kinds = map[string]func(context.Context, *opening) error{
	"voc": openVOC, "coco": openCOCO, "yolo": openYOLO, "csv": openCSV,
}

// forms lists the forms of a spec.
const forms = "voc:FOLDER, coco:FILE, yolo:FOLDER, csv:FILE"

// HasBoxes reports whether a spec names a set with boxes, which Open reads: coco:, yolo:, voc: without masks,
// or csv: with a table of boxes. Package data opens all other data.
func HasBoxes(ctx context.Context, spec string) bool {
	form, _ := CutSplit(spec)
	switch kind, name, ok := strings.Cut(form, ":"); {
	case !ok:
		return false
	case kind == "voc":
		return !hasMasks(ctx, name)
	case kind == "csv":
		return hasTable(ctx, name)
	default:
		return kinds[kind] != nil
	}
}

// opening is the state of a set while it is opened.
type opening struct {
	faults
	path    string
	options Options
	set     *Set
	stop    []func() // functions that stop reading ahead
}

// Open reads the annotations of a spec:
//
//	voc:FOLDER   PASCAL VOC: an XML file for each picture; ImageSets/Main if it exists
//	coco:FILE    COCO: a JSON file, or a folder with one for each split
//	yolo:FOLDER  YOLO: a text file for each picture, and data.yaml with the names of classes
//	csv:FILE     a table with a row for each box: path, x1, y1, x2, y2, label
//
// FOLDER may be a .tar, .tar.gz or .zip. A suffix @train, @val or @test selects a split. Without a suffix the
// set has all pictures. The error for broken annotations is a *Faults; any other error is about the spec, the
// files or the context.
func Open(ctx context.Context, spec string, options Options) (*Set, error) {
	form, split := CutSplit(spec)
	kind, name, _ := strings.Cut(form, ":")
	read := kinds[kind]
	if read == nil || name == "" {
		return nil, problem.New("", "", fmt.Sprintf("%q is not a set of annotated pictures", spec),
			"write "+forms)
	}
	o := &opening{path: name, options: options, set: &Set{Spec: form}}
	err := read(ctx, o)
	if err == nil {
		err = o.finish(ctx)
	}
	for _, stop := range o.stop {
		stop()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", form, err), o.set.Close())
	}
	selected, err := o.set.Select(split)
	if err != nil {
		return nil, errors.Join(err, o.set.Close())
	}
	return selected, nil
}

// CutSplit returns a spec without its suffix, and the split of the suffix.
func CutSplit(spec string) (string, data.Split) {
	for _, split := range []data.Split{data.Train, data.Val, data.Test} {
		if form, ok := strings.CutSuffix(spec, "@"+string(split)); ok {
			return form, split
		}
	}
	return spec, ""
}

// list opens the folder or archive with this name. It lists its pictures, and the other files that keep
// accepts.
func (o *opening) list(ctx context.Context, name string, keep func(string) bool) error {
	files, err := data.OpenFiles(ctx, name, func(name string) bool {
		return images.IsFileName(name) || keep(name)
	})
	o.set.files = files
	if err == nil {
		o.startReading(ctx, func(f data.File) bool { return !images.IsFileName(f.Name) })
	}
	return err
}

// startReading starts to read those opened files that wanted accepts, in the order of the list, before they
// are needed. This ends when the set is open.
func (o *opening) startReading(ctx context.Context, wanted func(data.File) bool) {
	var files []data.File
	for _, f := range o.set.files.All {
		if wanted(f) {
			files = append(files, f)
		}
	}
	o.stop = append(o.stop, data.StartReading(ctx, files))
}

// pictureFiles returns the pictures of the opened files by their full names.
func (o *opening) pictureFiles() map[string]data.File {
	files := map[string]data.File{}
	for _, f := range o.set.files.All {
		if images.IsFileName(f.Name) {
			files[f.Name] = f
		}
	}
	return files
}

// finish checks the files of the pictures against their annotations, and returns all faults as an error.
func (o *opening) finish(ctx context.Context) error {
	needed := map[string]bool{}
	for _, p := range o.set.Pictures {
		needed[p.Name] = p.read != nil
	}
	if o.set.files != nil {
		o.startReading(ctx, func(f data.File) bool { return needed[f.Name] })
	}
	for i := range o.set.Pictures {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if p := &o.set.Pictures[i]; p.read != nil {
			o.measure(ctx, p)
		}
	}
	if err := o.err(); err != nil {
		return err
	}
	if len(o.set.Pictures) == 0 {
		return problem.Failure("", "there is no annotated picture", "check the path")
	}
	return nil
}

// measure compares the size of a picture's file with the size in the annotation. If the annotation describes
// the stored rows of a picture with an EXIF orientation, measure turns its boxes like the picture.
func (o *opening) measure(ctx context.Context, p *Picture) {
	d := p.dimensions
	if d.Width == 0 {
		b, err := p.read()
		if err == nil {
			d, err = images.Measure(ctx, b)
		}
		if err != nil {
			o.add(p.Name, 0, "mend or remove it", "%v", err)
			return
		}
	}
	width, height := d.Width, d.Height
	if d.Orientation > 4 {
		width, height = height, width
	}
	isUpright := p.Width == width && p.Height == height
	if isStored := p.Width == d.Width && p.Height == d.Height; p.Width > 0 && !isUpright && !isStored {
		o.add(p.file, p.line, "the annotations are of another picture, or it was resized",
			"the size of %s is %d x %d here, and the file has %d x %d pixels", path.Base(p.Name), p.Width,
			p.Height, width, height)
		return
	}
	if p.Width > 0 && !isUpright {
		for i := range p.Objects {
			p.Objects[i].Box = p.Objects[i].Box.turn(d.Orientation, d.Width, d.Height)
		}
	}
	p.Width, p.Height = width, height
}
