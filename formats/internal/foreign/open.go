package foreign

import (
	"fmt"
	"io"

	"github.com/bnctl/bnctl/internal/regular"
)

// Open opens the file path and calls read. The result keeps the file open until File.Close,
// because its tensors are read later. Open adds path to the errors of read.
func Open(path string, read func(src io.ReaderAt, size int64) (*File, error)) (*File, error) {
	src, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := src.Stat()
	if err == nil {
		var f *File
		if f, err = read(src, info.Size()); err == nil {
			f.Owns(src)
			return f, nil
		}
	}
	src.Close()
	return nil, fmt.Errorf("%s: %w", path, err)
}
