package data

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// ErrSpec is wrapped by errors about a spec that Open cannot parse. This error is the user's misuse, not a
// fault of the data.
var ErrSpec error = specError{}

type specError struct{}

func (specError) Error() string { return "data spec" }

// Misuse implements the interface of problem.IsMisuse.
func (specError) Misuse() bool { return true }

// spec is the parsed form of "kind:path@split".
type spec struct {
	kind, path string
	split      Split // the split to open
	explicit   bool  // the spec has a suffix with the split
}

// String returns the spec without its suffix. Errors begin with this text.
func (s spec) String() string {
	if s.path == "" {
		return s.kind
	}
	return s.kind + ":" + s.path
}

// kinds is the table of the kinds of data sources. takes describes the part of the spec after the colon.
var kinds = []struct {
	name, takes string
	optional    bool // the path is optional
	open        func(context.Context, spec, Options) (Source, error)
}{
	{"glyphs", "glyphs[:N]", true, openGlyphs},
	{"shapes", "shapes[:N]", true, openShapes},
	{"cifar10", "cifar10:PATH", false, openCIFAR10},
	{"mnist", "mnist:PATH", false, openMNIST},
	{"folder", "folder:PATH", false, openFolder},
	{"wds", "wds:SHARDS", false, openShards},
	{"csv", "csv:FILE", false, openTables},
	{"npy", "npy:X.npy,Y.npy", false, openNPY},
	{"masks", "masks:IMAGES,MASKS[,TABLE]", false, openMasks},
	{"voc", "voc:PATH", false, openVOC},
}

// Kinds returns the forms of a spec, one on each line, for the help text.
func Kinds() string {
	return kindsList() + "; with @train, @val or @test behind it that part; several with " + joiner +
		" between them"
}

// isSpec reports whether text begins with a kind of data source, so that it is a spec.
func isSpec(text string) bool {
	kind, _, _ := strings.Cut(text, ":")
	kind, _, _ = strings.Cut(kind, "@")
	for _, k := range kinds {
		if k.name == kind {
			return true
		}
	}
	return false
}

func isNoSpec(text string) bool { return !isSpec(text) }

// Open opens the data source that a spec names:
//
//	glyphs[:N]        digits drawn on the fly, N of them (6000 train, 1000 test)
//	shapes[:N]        scenes of shapes drawn on the fly with their masks, 64x64 (2000 train, 500 test)
//	cifar10:PATH      the binary folder or its .tar.gz, one .bin file, or train/
//	                  and test/ with a folder per class, as .tar, .tar.gz or .zip too
//	mnist:PATH        a folder with the four IDX files, gzipped or not
//	folder:PATH       a folder per class, below train/, val/ and test/ if they
//	                  exist, also as Training, valid ...; a folder, .tar, .tar.gz or .zip
//	wds:SHARDS        tar archives as WebDataset writes them: a folder of them,
//	                  one, or a range NAME-{000000..000009}.tar
//	csv:FILE          a table with path and label of each picture, perhaps split
//	                  and group; Options.Columns names other columns
//	npy:X.npy,Y.npy   samples and labels
//	masks:IMAGES,MASKS  pictures and PNG masks of the same names, in folders or
//	                  archives; parts as of folder:, or by list files train.txt
//	                  and val.txt. A third part, TABLE, defines the meaning of pixels
//	voc:PATH          PASCAL VOC, folder or archive: JPEGImages, SegmentationClass
//	                  and ImageSets/Segmentation
//
// A suffix @train, @val or @test selects a split. Several specs with ++ between them are one source:
// folder:a++csv:b.csv. If the spec does not have this form, the error wraps ErrSpec. Any other error is about
// the data, or is the error of the context.
func Open(ctx context.Context, text string, opt Options) (Source, error) {
	if specs := strings.Split(text, joiner); len(specs) > 1 && !slices.ContainsFunc(specs, isNoSpec) {
		return openJoined(ctx, specs, opt)
	}
	s := spec{split: opt.Split}
	if s.split == "" {
		s.split = Train
	}
	form := text
	for _, split := range []Split{Train, Val, Test} {
		if before, ok := strings.CutSuffix(text, "@"+string(split)); ok {
			form, s.split, s.explicit = before, split, true
		}
	}
	s.kind, s.path, _ = strings.Cut(form, ":")
	for _, k := range kinds {
		if k.name != s.kind {
			continue
		}
		if s.path == "" && !k.optional {
			return nil, problem.Advise(fmt.Sprintf("write %s", k.takes), "%w %q: the path is missing",
				ErrSpec, text)
		}
		if opt.Masks != (MaskOptions{}) && s.kind != "masks" {
			return nil, opt.Masks.idle(s.kind)
		}
		if opt.Columns != "" && s.kind != "csv" {
			return nil, problem.New("csv-columns", opt.Columns, s.kind+" has no columns", "leave it off")
		}
		src, err := k.open(ctx, s, opt)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", s, err)
		}
		return src, nil
	}
	if r := regular.RemoteOf(form); r != nil {
		return nil, problem.Advise("say what is there: folder:"+r.Name(form)+" for pictures in folders or an "+
			"archive, wds: for tar shards", "%w %q: a URL; the kinds are %s", ErrSpec, r.Name(form), kindsList())
	}
	if boxes, ok := kindsOfBoxes[s.kind]; ok {
		return nil, fmt.Errorf("%w %q: a set with boxes, %s, which package objects/samples opens", ErrSpec, text,
			boxes)
	}
	if info, err := os.Stat(form); err == nil {
		is, kind := "a file", kindOfFile(form)
		if info.IsDir() {
			is, kind = "a folder", "folder"
		}
		return nil, problem.Advise("say what is in it, for example "+kind+":"+form, "%w %q: %s; the kinds are %s",
			ErrSpec, text, is, kindsList())
	}
	return nil, fmt.Errorf("%w %q: unknown kind %q; the kinds are %s", ErrSpec, text, s.kind, kindsList())
}

// kindsOfBoxes has the forms of the kinds that package objects/samples opens, by name.
var kindsOfBoxes = map[string]string{"coco": "coco:FILE", "yolo": "yolo:FOLDER"}

// kindOfFile returns a kind of data source that reads files with the extension of a name.
func kindOfFile(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return "coco"
	case ".yaml", ".yml":
		return "yolo"
	case ".csv", ".tsv", ".txt":
		return "csv"
	}
	return "folder" // an archive of pictures
}

// kindsList returns the forms of all kinds, also of those in kindsOfBoxes.
func kindsList() string {
	var forms []string
	for _, k := range kinds {
		forms = append(forms, k.takes)
	}
	for _, name := range slices.Sorted(maps.Keys(kindsOfBoxes)) {
		forms = append(forms, kindsOfBoxes[name])
	}
	return strings.Join(forms, ", ")
}
