package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// maxHeader is the length limit of a header, in bytes: a quarter of a million tensors need
// less.
const maxHeader = 32 << 20

// maxMetadata limits the entries of the free part of a header.
const maxMetadata = 4096

const lengthSize = 8 // bytes of the length before the header

// Sniff reports whether a file that starts with head and has size bytes looks
// like a safetensors file.
func Sniff(head []byte, size int64) bool {
	return len(head) > lengthSize && head[lengthSize] == '{' &&
		headerLength(head) <= uint64(max(size-lengthSize, 0))
}

func headerLength(head []byte) uint64 { return binary.LittleEndian.Uint64(head) }

// Read opens a safetensors file. The caller closes the result.
func Read(path string) (*foreign.File, error) {
	return foreign.Open(path, func(src io.ReaderAt, size int64) (*foreign.File, error) {
		f, err := ReadFrom(src, size)
		if err != nil {
			return nil, fmt.Errorf("safetensors: %w", err)
		}
		return f, nil
	})
}

// ReadFrom is like Read but reads size bytes of src, which must stay readable while tensors are
// loaded.
func ReadFrom(src io.ReaderAt, size int64) (*foreign.File, error) {
	var head [lengthSize]byte
	if foreign.ReadAt(src, head[:], 0) != nil {
		return nil, fmt.Errorf("a file of %d bytes has no header", size)
	}
	n := headerLength(head[:])
	if n > uint64(size-lengthSize) || n > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes in a file of %d; at most %d are supported", n, size, maxHeader)
	}
	b := make([]byte, n)
	if err := foreign.ReadAt(src, b, lengthSize); err != nil {
		return nil, err
	}
	h, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	base := lengthSize + int64(n)
	if err := h.checkCover(size - base); err != nil {
		return nil, err
	}
	return h.file(src, base, size)
}

func (h *header) file(src io.ReaderAt, base, size int64) (*foreign.File, error) {
	f := &foreign.File{Format: "safetensors"}
	metadata := map[string]string{}
	for _, e := range h.metadata {
		metadata[e.Name] = e.Value
		if !foreign.IsLabels(e.Name) || foreign.ParseLabels(e.Value) == nil {
			f.Counters = append(f.Counters, e)
		}
	}
	f.Label(metadata)
	for _, e := range h.entries {
		t, err := foreign.NewTensor(e.name, e.dtype, e.shape, func(dst []byte) error {
			return foreign.ReadAt(src, dst, base+e.begin)
		})
		if err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, t)
	}
	return f, foreign.CheckTensors(f.Tensors, size)
}
