package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

var digits = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// openMNIST opens mnist:PATH: a folder with the four IDX files.
func openMNIST(_ context.Context, s spec, _ Options) (Source, error) {
	split, err := s.trainOrTest()
	if err != nil {
		return nil, err
	}
	prefix := "train"
	if split == Test {
		prefix = "t10k"
	}
	x, err := openIDX(s.path, prefix+"-images", "idx3-ubyte")
	if err != nil {
		return nil, err
	}
	y, err := openIDX(s.path, prefix+"-labels", "idx1-ubyte")
	if err != nil {
		return nil, err
	}
	if len(x.Shape) != 3 || len(y.Shape) != 1 {
		return nil, fmt.Errorf("images of rank %d and labels of rank %d; want 3 and 1", len(x.Shape), len(y.Shape))
	}
	if x.Shape[0] != y.Shape[0] {
		return nil, fmt.Errorf("%s but %s", problem.Plural(x.Shape[0], "image"),
			problem.Plural(y.Shape[0], "label"))
	}
	if x.Count() == 0 {
		return nil, errors.New("there are no images in it")
	}
	labels := make([]int32, len(y.Bytes))
	for i, v := range y.Bytes {
		if int(v) >= len(digits) {
			return nil, fmt.Errorf("%s-labels: label %d of image %d is out of range 0 to 9", prefix, v, i)
		}
		labels[i] = int32(v)
	}
	x = x.Reshape(append(x.Shape[:3:3], 1)...)
	m := &memory{x: x, labels: labels, info: pictureInfo(x, digits)}
	m.info.Kind, m.info.Split = s.kind, split
	return m, nil
}

// openIDX opens the file stem-suffix or stem.suffix (both names are common), or one of them with .gz.
func openIDX(dir, stem, suffix string) (tensor.Tensor, error) {
	if regular.RemoteOf(dir) == nil {
		if info, err := os.Stat(dir); err != nil {
			return tensor.Tensor{}, stream.WithoutPath(err)
		} else if !info.IsDir() {
			return tensor.Tensor{}, errors.New("this is no folder; want one with the four IDX files")
		}
	}
	for _, name := range []string{stem + "-" + suffix, stem + "." + suffix} {
		for _, name := range []string{name, name + ".gz"} {
			f, err := regular.Open(regular.Join(dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return tensor.Tensor{}, stream.WithoutPath(err)
			}
			defer f.Close()
			t, err := readIDXFile(f)
			if err != nil {
				return tensor.Tensor{}, fmt.Errorf("%s: %w", name, err)
			}
			return t, nil
		}
	}
	return tensor.Tensor{}, fmt.Errorf("%s-%s (or with .gz) is missing", stem, suffix)
}

// readIDXFile reads an IDX file. It unpacks the file if it is gzipped.
func readIDXFile(f *os.File) (tensor.Tensor, error) {
	info, err := f.Stat()
	if err != nil {
		return tensor.Tensor{}, stream.WithoutPath(err)
	}
	r, err := unpacked(f, info.Size())
	if err != nil {
		return tensor.Tensor{}, err
	}
	t, err := readIDX(r)
	if err != nil {
		return tensor.Tensor{}, err
	}
	// Reading to the end checks gzip's checksum.
	if n, err := io.Copy(io.Discard, r); n != 0 || err != nil {
		return tensor.Tensor{}, errors.Join(err, fmt.Errorf("%s too many behind its %v",
			problem.Plural(int(n), "byte"), t))
	}
	return t, nil
}
