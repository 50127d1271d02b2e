package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/tensor"
)

// OpenInputs returns a source of inputs for prediction. An input is a picture file, a folder or an archive
// with pictures at any depth (in the order of their names), an .npy file of shape [samples, ...], or a data
// spec. A picture, an array or an archive may also come through a pipe; "-" is the standard input. The source
// has the samples of all inputs, one input after the other. The name of a sample is its path, or its name in
// an archive. The source has no labels, unless the only input is a spec. Options.Unopened is called for each
// input that cannot be opened. It is an error if an input has none of these forms, or if none can be opened.
func OpenInputs(ctx context.Context, inputs []string, opt Options) (Source, error) {
	if len(inputs) == 0 {
		return nil, errors.New("no inputs")
	}
	all := &concatenated{}
	var bad []error
	for _, input := range inputs {
		src, err := openInput(ctx, input, opt)
		if err != nil && opt.Unopened != nil && !errors.Is(err, ErrSpec) {
			bad = append(bad, err)
			continue
		}
		if err == nil {
			err = all.add(src)
		}
		if err != nil {
			all.Close()
			return nil, err
		}
	}
	if len(all.sources) == 0 {
		return nil, errors.Join(bad...)
	}
	for _, err := range bad {
		opt.Unopened(err)
	}
	if len(all.sources) == 1 {
		return all.sources[0], nil
	}
	return all, nil
}

func openInput(ctx context.Context, input string, opt Options) (Source, error) {
	if isSpec(input) {
		return Open(ctx, input, opt)
	}
	switch {
	case isPipe(input):
		return openPipe(ctx, input, opt)
	case path.Ext(input) == ".npy":
		m, err := openArray(input, opt)
		if err != nil {
			return nil, err
		}
		return arrayInput(m, input), nil
	}
	t, err := inputTree(ctx, input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", input, err)
	}
	return pictureInput(t, input, opt), nil
}

// pictureInput returns a source of the pictures of the tree t, which was opened from input.
func pictureInput(t *tree, input string, opt Options) Source {
	samples := make([]sampleFile, len(t.members))
	for i, m := range t.members {
		samples[i] = sampleFile{member: m, rest: m.name}
		samples[i].name = regular.Join(input, m.name)
	}
	slices.SortFunc(samples, func(a, b sampleFile) int { return cmp.Compare(a.name, b.name) })
	info := Info{Kind: "pictures", Len: len(samples), DType: tensor.U8, Decoder: images.DecoderVersion,
		EXIF: opt.EXIF, formats: []*formatSet{{}}}
	return &pictures{info: info, samples: samples, cache: newCache(len(samples), opt), close: t.close,
		exif: opt.EXIF}
}

// arrayInput returns m as a source where the names of samples begin with input.
func arrayInput(m *memory, input string) Source {
	m.info.Kind, m.name = "npy", input+":"
	return m
}

var errNoPictures = errors.New("no pictures in it")

// inputTree lists the pictures of a folder or archive, or a single picture file.
func inputTree(ctx context.Context, input string) (*tree, error) {
	isFolder := false
	if r := regular.RemoteOf(input); r != nil {
		t, err := openRemote(ctx, r, input, images.IsFileName)
		isFolder = err == nil && t != nil // otherwise the input may be a single file
	} else if info, err := os.Stat(input); err != nil {
		return nil, stream.WithoutPath(err)
	} else {
		isFolder = info.IsDir()
	}
	if !isFolder {
		f, err := regular.Open(input)
		if err != nil {
			return nil, stream.WithoutPath(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, stream.WithoutPath(err)
		}
		kind, err := archiveKind(f)
		if err != nil {
			return nil, err
		}
		if kind == "" {
			t := &tree{close: func() error { return nil }}
			return t, t.add(member{size: info.Size(), read: func() ([]byte, error) { return readFile(input) }})
		}
	}
	t, err := openTree(ctx, input, images.IsFileName)
	if err != nil {
		return nil, err
	}
	if len(t.members) == 0 {
		t.close()
		return nil, errNoPictures
	}
	return t, nil
}
