package data

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// maxNPZ is the largest number of arrays in an .npz file.
const maxNPZ = 1 << 12

// Named is an array with its name.
type Named struct {
	Name  string
	Array tensor.Tensor
}

// ReadNPYFile returns the array in an .npy file. It is an error if the file has anything else.
func ReadNPYFile(name string) (tensor.Tensor, error) { return readNPYFile(name) }

// ReadNPZFile returns the arrays of an .npz file, which numpy.savez or savez_compressed has written, in the
// order of the file. It reads only the arrays that wanted accepts; nil: all.
func ReadNPZFile(name string, wanted func(array string) bool) ([]Named, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, stream.WithoutPath(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, stream.WithoutPath(err))
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, problem.Advise("write it with numpy.savez", "%s: this is no .npz file: %w", name, err)
	}
	if len(z.File) > maxNPZ {
		return nil, fmt.Errorf("%s: %s; at most %d are read", name, problem.Plural(len(z.File), "array"), maxNPZ)
	}
	var all []Named
	for _, member := range z.File {
		array, ok := strings.CutSuffix(member.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("%s: %.80q is in it; an .npz file has arrays as .npy", name, member.Name)
		}
		if wanted != nil && !wanted(array) {
			continue
		}
		x, err := readZippedArray(name+":"+array, member)
		if err != nil {
			return nil, err
		}
		all = append(all, Named{array, x})
	}
	return all, nil
}

// readZippedArray reads an array up to the end of the member. It compares the checksum itself, because
// archive/zip skips the comparison if the checksum in the archive's directory is 0.
func readZippedArray(name string, member *zip.File) (tensor.Tensor, error) {
	r, err := member.Open()
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	sum := crc32.NewIEEE()
	x, err := onlyArray(name, io.TeeReader(r, sum))
	if errors.Is(err, zip.ErrChecksum) || err == nil && sum.Sum32() != member.CRC32 {
		err = problem.Advise("take another copy", "%s: its checksum differs: the file is damaged", name)
	}
	return x, err
}

// FromArray returns a source of samples without labels. They are the rows of x, f32 [samples, ...]. kind
// becomes the Kind of its Info, and the names of its samples begin with name.
func FromArray(kind, name string, x tensor.Tensor) (Source, error) {
	m, err := arraySource(name, x, Options{})
	if err != nil {
		return nil, err
	}
	m.info.Kind, m.name = kind, name+":"
	return m, nil
}
