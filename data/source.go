// Package data opens, orders and augments samples for training, evaluation and prediction.
//
// Use it to open data in common formats. For other data implement Source: packages train and predict read any
// Source.
//
// Open turns a spec, for example "cifar10:PATH@train", into a Source: a finite, indexed set of samples. Each
// sample is a picture (u8, H,W,C) or an array (f32), and may have a label. A Loader reads a Source batch by
// batch. The order and the augmentation depend only on the seed, the epoch and the sample, never on the
// number of workers, on the machine or on where reading began.
//
// The package never scales the values of pixels or subtracts a mean: operations of the model do that.
package data

import (
	"context"

	"github.com/bnctl/bnctl/tensor"
)

// Source is a finite, indexed set of samples. Its methods may be called concurrently from
// any number of goroutines, except Close, which must be last. Samples and labels belong to
// the source: the caller must not change them.
type Source interface {
	// Info describes the source. The call is cheap.
	Info() Info

	// Sample returns sample i, for i in [0, Info().Len): a picture of shape H,W,C and type u8, or an array of
	// type f32. An error names the sample. If ctx ends, Sample soon returns an error.
	Sample(ctx context.Context, i int) (tensor.Tensor, error)

	// Label returns the label of sample i in row-major order, or nil if the source has no labels. It is one
	// class number, unless Info() has a label shape or masks. The class number -1 means that the label is
	// ignored. With Info().MultiLabel the label has a number for each class: 1 (the sample is of the class), 0
	// (it is not) or -1 (unknown). With Info().Targets it has numbers in the form of Number. An error names the
	// sample.
	Label(ctx context.Context, i int) ([]int32, error)

	// Name returns a name of sample i for messages: its file, its name in an archive, or its number.
	Name(i int) string

	// Fingerprint returns a hash of the classes, the labels and the content
	// of the samples, as 64 hexadecimal digits. The same data under another
	// path, or in another kind of archive, has the same fingerprint.
	Fingerprint(ctx context.Context) (string, error)

	// Close closes the files of the source. No other call may follow.
	Close() error
}

// Info describes a source.
type Info struct {
	Kind       string         // the part of the spec before the colon: "cifar10"
	Split      Split          // which split of the data this is; "" if it has no splits
	requested  Split          // the requested split, if Split replaces it because it is missing
	Len        int            // number of samples
	DType      tensor.DType   // U8: pictures; F32: arrays
	Shape      []int          // shape of one sample; nil: RGB pictures of different or unknown sizes
	Labelled   bool           // whether the source has labels
	LabelShape []int          // shape of one label; empty: a class number, or masks of several sizes
	Masks      bool           // a label is a mask: the class of each pixel of the picture
	Boxes      bool           // a label is boxes, in pixels of the sample: see Box
	MultiLabel bool           // classes do not exclude each other: LabelShape is [number of Classes]
	complete   bool           // with MultiLabel: classes that a sample does not name are absent, not unknown
	Targets    []string       // names of the numbers, if a label has numbers in place of classes; else nil
	Decoder    string         // version of the picture decoders, if the samples are picture files
	EXIF       bool           // value of Options.EXIF, if the samples are picture files
	Classes    []string       // names of the classes, by number; nil without labels
	Absent     []string       // classes without any pixel, if all masks were read
	Kinds      map[string]int // number of sample files, by file extension; nil without files
	Ignored    map[string]int // number of other files, by file extension
	Empty      []string       // folders without a picture
	Skipped    []Bad          // files that were left out because of Options.SkipBad
	formats    []*formatSet   // formats of the picture files, filled in by Fingerprint
	columns    string         // text about the use of the columns of a table, or about folders
}

// Pictures reports whether the samples are pictures, u8 of shape H,W,C.
func (i Info) Pictures() bool { return i.DType == tensor.U8 }

// IsPerPixel reports whether a label has a class for each pixel, as a mask or as an array [height, width].
func (i Info) IsPerPixel() bool {
	return i.Masks || i.Labelled && len(i.LabelShape) == 2 && !i.MultiLabel && i.Targets == nil &&
		!i.Boxes
}

// Split names a split of a data set.
type Split string

// The splits that a suffix of a spec can select. If the spec has no suffix, Test replaces a missing Val,
// because published data often has only two splits. Val replaces a missing Test, even if the spec has a
// suffix; then Info.requested is Test.
const (
	Train Split = "train"
	Val   Split = "val"
	Test  Split = "test"
)

// Values of the option exif, also in recipes. They state whether pictures are turned by the EXIF
// orientation in their files.
const (
	ApplyEXIF  = "apply"
	IgnoreEXIF = "ignore"
)

// Options state how Open and OpenInputs read data.
type Options struct {
	// Split is the split to open if the spec has no suffix; "" means Train. Data without splits is opened as a
	// whole.
	Split Split
	// SkipBad is the number of bad picture files that may be left out, or SkipAll. If it is
	// not 0, Open decodes all picture files.
	SkipBad int
	// CannotSkip is set by a caller whose user cannot change SkipBad. Errors then do not advise to change it.
	CannotSkip bool
	// CacheBytes is the largest memory for decoded pictures, in bytes. 0 means a default, and a negative value
	// means no cache.
	CacheBytes int64
	// EXIF turns pictures by the orientation in their files.
	EXIF bool
	// Masks defines the meaning of the pixels of a source of kind masks.
	Masks MaskOptions
	// Columns names columns of a source of kind csv: "path=ID,label=BREED". The roles split, group and weight
	// may be named in the same way. Other columns are found by their usual names.
	Columns string
	// Unopened is called for each input that OpenInputs cannot open and therefore leaves out. If it is nil,
	// an unreadable input is an error.
	Unopened func(err error)
	// Array converts the array of an .npy file to samples: pictures u8 [n, height, width, 1 or 3], or f32 of any
	// shape. If it is nil, bytes with the shape of pictures are pictures, and everything else is converted to
	// f32.
	Array func(name string, x tensor.Tensor) (tensor.Tensor, error)
}
