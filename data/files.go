package data

import (
	"context"

	"github.com/bnctl/bnctl/tensor"
)

// Files has the files of a folder or of an archive that a data set consists of.
type Files struct {
	All  []File
	tree *tree
}

// File is one file of Files. Name is slash-separated and relative to the folder or archive.
type File struct {
	Name string
	Read func() ([]byte, error) // errors do not repeat the name
}

// OpenFiles lists the files of a folder, .tar, .tar.gz or .zip that keep accepts, with the
// limits of every data source: links out of an archive, bombs and huge files are errors.
// Files with a name that begins with a dot never count.
func OpenFiles(ctx context.Context, path string, keep func(name string) bool) (*Files, error) {
	t, err := openTree(ctx, path, keep)
	if err != nil {
		return nil, err
	}
	f := &Files{tree: t}
	for _, m := range t.members {
		f.All = append(f.All, File{m.name, m.read})
	}
	return f, nil
}

// Close closes the archive. Read must not be called afterwards.
func (f *Files) Close() error { return f.tree.close() }

// IsPictureName reports whether a file name has the extension of a picture.
func IsPictureName(name string) bool { return isPicture(name) }

// SplitOfFolder returns the split with a folder's name, as "valid" for Val; "" for another name.
func SplitOfFolder(name string) Split { return splitOf(name) }

// DecoderVersion returns the version of DecodePicture, as Info.Decoder.
func DecoderVersion() string { return decoderVersion }

// DecodePicture returns the picture of a file, u8 [height, width, 3], as sources of pictures
// do. With exif it is turned according to the file's EXIF orientation.
func DecodePicture(ctx context.Context, file []byte, exif bool) (tensor.Tensor, error) {
	return decodePicture(ctx, file, exif)
}

// Dimensions has the size of a picture file in pixels, as it is stored, and its EXIF
// orientation, 1 to 8. An orientation above 4 swaps width and height.
type Dimensions struct{ Width, Height, Orientation int }

// MeasurePicture reads the headers of a picture file.
func MeasurePicture(ctx context.Context, file []byte) (Dimensions, error) {
	f, err := openPicture(ctx, file, true)
	if err != nil {
		return Dimensions{}, err
	}
	return Dimensions{f.w, f.h, f.orientation}, nil
}
