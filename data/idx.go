package data

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/tensor"
)

// readIDX reads a file of MNIST's format with elements of one byte: two zero
// bytes, the type (8), the number of axes, their lengths as big-endian words,
// and the elements.
func readIDX(r io.Reader) (tensor.Tensor, error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return tensor.Tensor{}, stream.CutShort(err)
	}
	if magic[0] != 0 || magic[1] != 0 {
		return tensor.Tensor{}, fmt.Errorf("this is no IDX file: it begins with %x", magic)
	}
	if magic[2] != 8 {
		return tensor.Tensor{}, fmt.Errorf("IDX element type %#x, want 0x8 (unsigned bytes)", magic[2])
	}
	rank := int(magic[3])
	if rank == 0 || rank > tensor.MaxRank {
		return tensor.Tensor{}, fmt.Errorf("IDX file of rank %d; 1 to %d are read", rank, tensor.MaxRank)
	}
	lengths := make([]uint32, rank)
	if err := binary.Read(r, binary.BigEndian, lengths); err != nil {
		return tensor.Tensor{}, stream.CutShort(err)
	}
	shape := make([]int, rank)
	for i, n := range lengths {
		shape[i] = int(n)
	}
	t, err := readElements(r, tensor.U8, shape)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("IDX file of shape %v: %w", shape, err)
	}
	return t, nil
}

// unpacked returns r, or the unpacked content if r is gzipped. size is the size of r, and limits the unpacked
// size.
func unpacked(r io.Reader, size int64) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if head, _ := b.Peek(2); string(head) != "\x1f\x8b" {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, stream.CutShort(err)
	}
	return &unpackLimit{r: z, remaining: unpackedLimit(size)}, nil
}
