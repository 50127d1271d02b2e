package tensorflow

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// maxIndex is the size limit of an index, in bytes: a quarter of a million variables need
// less.
const maxIndex = 64 << 20

// Sniff reports whether a file is the index of a checkpoint.
func Sniff(f io.ReaderAt, size int64) bool {
	var tail [8]byte
	return size >= footerSize && foreign.ReadAt(f, tail[:], size-8) == nil && isTable(tail[:])
}

// Options select the parts of a checkpoint to read.
type Options struct {
	// EMA replaces a variable by its moving average, if there is one.
	EMA bool
}

// Read opens the checkpoint with the index file path. The files of elements are in the same
// folder. The caller closes the result.
func Read(path string, o Options) (*foreign.File, error) {
	b, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	f := &foreign.File{Format: "tensorflow bundle"}
	shards := func(i, of int) (io.ReaderAt, int64, error) {
		return openShard(f, strings.TrimSuffix(path, ".index"), i, of)
	}
	if err := load(f, b, shards, o); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: tensorflow bundle: %w", path, err), f.Close())
	}
	return f, nil
}

func readIndex(path string) ([]byte, error) {
	b, err := regular.Read(path, maxIndex)
	if err != nil {
		return nil, fmt.Errorf("the index: %w", err)
	}
	return b, nil
}

// openShard opens file i of count files with elements, which must be a plain file.
func openShard(f *foreign.File, prefix string, i, count int) (io.ReaderAt, int64, error) {
	path := fmt.Sprintf("%s.data-%05d-of-%05d", prefix, i, count)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a plain file; links are not followed", path)
	}
	file, err := regular.Open(path)
	if err != nil {
		return nil, 0, err
	}
	f.Owns(file)
	return file, info.Size(), nil
}

// opener opens file i of the files of elements. The argument of is the number of these
// files.
type opener func(i, of int) (src io.ReaderAt, size int64, err error)

// load reads an index into f.
func load(f *foreign.File, index []byte, open opener, o Options) error {
	l := &loader{File: f, open: open, shards: map[uint64]shard{}, groups: map[string]int{}, ema: o.EMA}
	if err := walkTable(index, l.entry); err != nil {
		return err
	}
	if o.EMA {
		if err := l.takeAverages(); err != nil {
			return err
		}
	}
	if l.header == nil {
		return fmt.Errorf("the index has no header")
	}
	if len(f.Tensors) == 0 {
		return fmt.Errorf("the checkpoint holds no weights%s", leftOver(f.Left))
	}
	size := int64(len(index))
	for _, s := range l.shards {
		size += s.size
	}
	return foreign.CheckTensors(f.Tensors, size)
}

// leftOver lists the contents of a checkpoint without weights.
func leftOver(groups []foreign.Group) string {
	var names []string
	for _, g := range groups {
		names = append(names, fmt.Sprintf("%s (%s)", g.Name, g.Reason))
	}
	if len(names) == 0 {
		return ""
	}
	return ", only " + strings.Join(names, ", ")
}

// loader receives the entries of an index, the header first.
type loader struct {
	*foreign.File
	header *header
	open   opener
	shards map[uint64]shard
	groups map[string]int // index in Left

	ema      bool             // averages are kept
	averages []foreign.Tensor // under the names of their variables
}

type shard struct {
	src  io.ReaderAt
	size int64
}

func (l *loader) entry(key string, value []byte) error {
	if key == "" {
		h, err := parseHeader(value)
		l.header = &h
		return err
	}
	if l.header == nil {
		return fmt.Errorf("no header is before it")
	}
	e, err := parseEntry(key, value)
	if err != nil {
		return err
	}
	if variable, ok := averaged(key); ok && l.ema {
		t, err := l.tensor(variable, e)
		l.averages = append(l.averages, t)
		return err
	}
	tensorName, group, reason := classify(key)
	if m := numbers().FindStringSubmatch(tensorName); m != nil && len(e.shape) == 0 {
		tensorName, group, reason = "", m[1], "single values"
	}
	if tensorName == "" {
		return l.leave(e, group, reason)
	}
	if e.dtype == stringType {
		return l.leave(e, tensorName, "text")
	}
	if len(l.Tensors) == foreign.MaxTensors {
		return fmt.Errorf("more than %d variables", foreign.MaxTensors)
	}
	t, err := l.tensor(tensorName, e)
	l.Tensors = append(l.Tensors, t)
	return err
}

// leave adds a variable to the ones left out. A counter is read.
func (l *loader) leave(e entry, group, reason string) error {
	i, ok := l.groups[group]
	if !ok {
		i = len(l.Left)
		l.groups[group] = i
		g := foreign.Group{Name: group, Reason: reason}
		if _, ok := averaged(e.name); ok {
			g.Reason, g.Advice = "averages of the weights", "{ema} takes them"
		}
		l.Left = append(l.Left, g)
	}
	l.Left[i].Tensors++
	l.Left[i].Bytes += int64(min(e.size, 1<<40))
	if dtypes[e.dtype] != tensor.I64 || len(e.shape) > 0 {
		return nil
	}
	t, err := l.tensor(strings.TrimSuffix(e.name, suffix), e)
	if err != nil {
		return err
	}
	v, err := t.Load()
	if err == nil {
		l.Count(t.Name, strconv.FormatInt(v.I64()[0], 10))
	}
	return err
}

// tensor returns the variable of an entry.
func (l *loader) tensor(name string, e entry) (foreign.Tensor, error) {
	d, ok := dtypes[e.dtype]
	if !ok {
		return foreign.Tensor{}, fmt.Errorf("type %d of TensorFlow is not supported", e.dtype)
	}
	if e.sliced {
		return foreign.Tensor{}, problem.Advise("save it from a model without partitioner",
			"a partitioned variable")
	}
	n, err := tensor.Size(d, e.shape)
	if err != nil {
		return foreign.Tensor{}, err
	}
	s, err := l.shard(e.shard)
	if err != nil {
		return foreign.Tensor{}, err
	}
	if e.size != uint64(n) || e.offset > uint64(s.size) || e.size > uint64(s.size)-e.offset {
		return foreign.Tensor{}, fmt.Errorf("%s takes %d bytes; the index says %d at offset %d of %d",
			tensor.Describe(d, e.shape), n, e.size, e.offset, s.size)
	}
	big := l.header.big
	return foreign.NewTensor(name, d, e.shape, func(dst []byte) error {
		return e.read(dst, s.src, d.Size(), big)
	})
}

func (l *loader) shard(i uint64) (shard, error) {
	if i >= uint64(l.header.shards) {
		return shard{}, fmt.Errorf("shard %d of %d", i, l.header.shards)
	}
	if s, ok := l.shards[i]; ok {
		return s, nil
	}
	src, size, err := l.open(int(i), l.header.shards)
	if err != nil {
		return shard{}, err
	}
	l.shards[i] = shard{src, size}
	return l.shards[i], nil
}

// read fills dst and verifies its CRC, which covers the bytes as stored.
func (e entry) read(dst []byte, src io.ReaderAt, width int, big bool) error {
	if err := foreign.ReadAt(src, dst, int64(e.offset)); err != nil {
		return err
	}
	if got, want := crc32.Checksum(dst, castagnoli()), unmask(e.crc); got != want {
		return fmt.Errorf("the file is damaged: CRC is %08x, want %08x", got, want)
	}
	for at := 0; big && at < len(dst); at += width {
		slices.Reverse(dst[at : at+width])
	}
	return nil
}
