package torch

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/problem"
)

// Options select the state dict of a checkpoint.
type Options struct {
	// Key is the path of the state dict, "model.generator". Empty selects the only one, or
	// the one under a usual name.
	Key string
	// EMA picks the exponential average of the weights.
	EMA bool
}

// Limits on pickles, in bytes of memory.
const (
	// pickleSlack is the memory that the objects of a pickle may use in addition to a part
	// of the file's size.
	pickleSlack = 16 << 20
	// maxPickle is the size limit for a pickle that is read in one piece.
	maxPickle = 256 << 20
)

// content is an open file of any of the variants.
type content struct {
	format string
	root   any // value of the main pickle; its storages are *storage
	src    io.ReaderAt
	size   int64
}

// Read opens a file that torch.save has written. The caller closes the result.
func Read(path string, o Options) (*foreign.File, error) {
	return foreign.Open(path, func(src io.ReaderAt, size int64) (*foreign.File, error) {
		return ReadFrom(src, size, o)
	})
}

// ReadFrom is like Read but reads size bytes of src, which must stay readable while tensors are
// loaded.
func ReadFrom(src io.ReaderAt, size int64, o Options) (*foreign.File, error) {
	c, err := open(src, size)
	if err != nil {
		return nil, err
	}
	file, err := c.file(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.format, err)
	}
	return file, nil
}

// Variants of the format, by the first bytes.
const (
	variantNone = iota
	variantZip
	variantLegacy
	variantTar
)

// legacyMagic is the content of the first pickle of a legacy stream, after opcode LONG1 and
// its length: 0x1950a86a20f9469cfc6c.
var legacyMagic = []byte{0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19}

// legacyText is the number in legacyMagic, as protocol 1 of pickle writes it.
var legacyText = []byte("L119547037146038801333356L\n.")

// variant returns the variant of a file that starts with head.
func variant(head []byte) int {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return variantZip
	case len(head) >= 2 && head[0] == 0x80 && bytes.Contains(head, legacyMagic),
		bytes.HasPrefix(head, legacyText):
		return variantLegacy
	case len(head) >= 512 && bytes.Equal(head[257:262], []byte("ustar")),
		bytes.HasPrefix(head, []byte("sys_info\x00")):
		return variantTar
	}
	return variantNone
}

// Sniff reports whether a file that starts with head (512 bytes are enough) may come from
// torch.save: an archive, a legacy stream, or at least a pickle.
func Sniff(head []byte) bool {
	return variant(head) != variantNone || len(head) >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

func open(src io.ReaderAt, size int64) (*content, error) {
	head := make([]byte, min(size, 512))
	if err := foreign.ReadAt(src, head, 0); err != nil {
		return nil, err
	}
	c := &content{src: src, size: size}
	var err error
	switch variant(head) {
	case variantZip:
		c.format, err = "pytorch zip", c.openZip()
	case variantLegacy:
		c.format, err = "pytorch legacy", c.openLegacy()
	case variantTar:
		c.format, err = "pytorch tar", c.openTar()
	default:
		return nil, notSaved(head)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.format, err)
	}
	return c, nil
}

// notSaved returns the error for a file that torch.save did not write.
func notSaved(head []byte) error {
	const what = "not a file of torch.save: no zip archive, legacy stream or tar archive"
	if Sniff(head) {
		return problem.Failure("", what+"; a plain pickle, as of pickle.dump",
			"load it in Python and torch.save its tensors")
	}
	return errors.New(what)
}

// pickles returns a reader of the pickles in size bytes of src. resolve returns the objects
// for persistent ids.
func (c *content) pickles(src io.Reader, size int64, resolve func(id any) (any, error)) *pickle.Reader {
	r := pickle.NewReader(src, size, pickleSlack+c.size/2)
	r.Persistent = resolve
	return r
}
