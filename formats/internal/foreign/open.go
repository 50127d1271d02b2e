package foreign

import (
	"fmt"
	"io"

	"github.com/bnctl/bnctl/internal/regular"
)

// Open reads a file. Its tensors are read from it afterwards: the result owns it. Errors of
// read name the file.
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
