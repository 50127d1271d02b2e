package torch

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// maxMembers limits the members of a tar archive; torch wrote four.
const maxMembers = 16

// tarFile is an archive of PyTorch 0.1: storages, tensors over them, and a
// pickle that refers to both by number.
type tarFile struct {
	c       *content
	members map[string]member
	objects map[string]any // *storage and *view, by key
	big     bool
}

// member is a part of the file.
type member struct{ offset, size int64 }

func (c *content) openTar() error {
	t := &tarFile{c: c, members: map[string]member{}, objects: map[string]any{}}
	steps := []func() error{t.list, t.system, t.storages, t.tensors, t.main}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tarFile) list() error {
	src := io.NewSectionReader(t.c.src, 0, t.c.size)
	r := tar.NewReader(src)
	for range maxMembers {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		at, err := src.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || h.Size > t.c.size-at {
			continue // folders and links; a truncated member is reported below
		}
		t.members[h.Name] = member{at, h.Size}
	}
	return fmt.Errorf("more than %d members", maxMembers)
}

// open returns a reader of a member.
func (t *tarFile) open(name string, resolve func(any) (any, error)) (*pickle.Reader, member, error) {
	m, ok := t.members[name]
	if !ok {
		return nil, m, fmt.Errorf("the archive has no member %q, or it is truncated", name)
	}
	return t.c.pickles(io.NewSectionReader(t.c.src, m.offset, m.size), m.size, resolve), m, nil
}

func (t *tarFile) system() error {
	r, _, err := t.open("sys_info", nil)
	if err != nil {
		return err
	}
	system, err := r.Load()
	t.big = isBig(system)
	return err
}

// count reads the number of records that a member starts with.
func count(r *pickle.Reader, name string) (int64, error) {
	v, err := r.Load()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	n, ok := v.(int64)
	if !ok || n < 0 {
		return 0, fmt.Errorf("%s: the number of records is %s", name, pickle.Describe(v))
	}
	return n, nil
}

// record reads the pickle (key, where, class) at the start of a record.
func record(r *pickle.Reader) (key string, location, class any, err error) {
	v, err := r.Load()
	if err != nil {
		return "", nil, nil, err
	}
	t, ok := v.(pickle.Tuple)
	if !ok || len(t) != 3 {
		return "", nil, nil, fmt.Errorf("a record is %s, want three values", pickle.Describe(v))
	}
	key, err = keyOf(t[0])
	return key, t[1], t[2], err
}

// keyOf returns the text of a key, which is a number or a string of digits.
func keyOf(v any) (string, error) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case string:
		return v, nil
	}
	return "", fmt.Errorf("a key is %s", pickle.Describe(v))
}

// storages reads: count, then for each (key, location, class), the number of
// elements (u64) and the elements; then the list of views.
func (t *tarFile) storages() error {
	r, m, err := t.open("storages", nil)
	if err != nil {
		return err
	}
	n, err := count(r, "storages")
	for ; err == nil && n > 0; n-- {
		err = t.storage(r, m)
	}
	if err != nil {
		return fmt.Errorf("storages: offset %d: %w", r.Offset(), err)
	}
	if r.Offset() == m.size { // some writers omit the list of views
		return nil
	}
	views, err := r.Load()
	if err != nil {
		return fmt.Errorf("storages: the views: %w", err)
	}
	return t.views(views)
}

func (t *tarFile) storage(r *pickle.Reader, m member) error {
	key, _, class, err := record(r)
	if err != nil {
		return err
	}
	d, err := storageType(class)
	if err != nil {
		return err
	}
	numel, err := r.Uint64()
	if err != nil {
		return err
	}
	s, err := newStorage(key, d, int64(min(numel, 1<<62)))
	if err != nil {
		return err
	}
	if d == 0 || t.objects[key] != nil {
		return fmt.Errorf("storage %q is untyped, or comes twice", key)
	}
	s.big = t.big
	t.objects[key] = s
	if err := s.setOffset(t.c.src, m.offset+r.Offset(), m.offset+m.size); err != nil {
		return err
	}
	return r.Skip(s.size)
}

// views reads [(key, root key, offset, numel)...]: parts of storages.
func (t *tarFile) views(v any) error {
	list, ok := v.(*pickle.List)
	if !ok {
		return fmt.Errorf("storages: the views are %s, want a list", pickle.Describe(v))
	}
	for _, item := range list.Items {
		entry, ok := item.(pickle.Tuple)
		if !ok || len(entry) != 4 {
			return fmt.Errorf("storages: a view is %s, want four values", pickle.Describe(item))
		}
		key, err1 := keyOf(entry[0])
		rootKey, err2 := keyOf(entry[1])
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("storages: %w", err)
		}
		root, ok := t.objects[rootKey].(*storage)
		if !ok {
			return fmt.Errorf("storages: a view of %s, which is not a storage", rootKey)
		}
		window, err := root.window(pickle.Tuple{nil, entry[2], entry[3]})
		if err != nil {
			return err
		}
		t.objects[key] = window
	}
	return nil
}

// tensors reads: count, then for each (key, storage key, class), the rank
// (i32), four unused bytes, lengths, strides and offset (i64 each).
func (t *tarFile) tensors() error {
	if _, ok := t.members["tensors"]; !ok {
		return nil // the main pickle rebuilds its tensors itself
	}
	r, _, err := t.open("tensors", nil)
	if err != nil {
		return err
	}
	n, err := count(r, "tensors")
	for ; err == nil && n > 0; n-- {
		err = t.tensor(r)
	}
	if err != nil {
		return fmt.Errorf("tensors: offset %d: %w", r.Offset(), err)
	}
	return nil
}

func (t *tarFile) tensor(r *pickle.Reader) error {
	key, where, _, err := record(r)
	if err != nil {
		return err
	}
	storeKey, err := keyOf(where)
	if err != nil {
		return err
	}
	head, err := r.Uint64()
	if err != nil {
		return err
	}
	rank := int64(int32(head))
	if rank < 0 || rank > 8 {
		return fmt.Errorf("tensor %s has rank %d", key, rank)
	}
	numbers := make([]any, 2*rank+1)
	for i := range numbers {
		u, err := r.Uint64()
		if err != nil {
			return err
		}
		numbers[i] = int64(u)
	}
	v, err := rebuildTensor(pickle.Tuple{t.objects[storeKey], numbers[2*rank],
		pickle.Tuple(numbers[:rank]), pickle.Tuple(numbers[rank : 2*rank])}, nil)
	if err != nil {
		return fmt.Errorf("tensor %s: %w", key, err)
	}
	if t.objects[key] != nil {
		return fmt.Errorf("tensor %s comes twice", key)
	}
	t.objects[key] = v
	return nil
}

// main reads the main pickle. Its persistent ids are the keys of tensors and storages, as
// they are or in the form of later files.
func (t *tarFile) main() error {
	r, _, err := t.open("pickle", t.resolve)
	if err != nil {
		return err
	}
	if t.c.root, err = r.Load(); err != nil {
		return err
	}
	entries, _ := entriesOf(t.c.root)
	for _, e := range entries {
		if err := t.inline(e.Value); err != nil {
			return fmt.Errorf("key %s: %w", pickle.Describe(e.Key), err)
		}
	}
	return nil
}

// inline resolves the id of a tensor's storage if a writer has put it among the arguments
// instead of marking it as persistent.
func (t *tarFile) inline(v any) error {
	call, ok := v.(*pickle.Call)
	if !ok || !isTensor(v) || len(call.Args) == 0 {
		return nil
	}
	id, ok := call.Args[0].(pickle.Tuple)
	if !ok {
		return nil
	}
	s, err := t.resolve(id)
	call.Args[0] = s
	return err
}

func (t *tarFile) resolve(id any) (any, error) {
	if tuple, ok := id.(pickle.Tuple); ok && len(tuple) > 0 {
		if tuple[0] != "storage" {
			return tuple[0], nil // the class of (class, file, source)
		}
		p, err := parseID(id)
		if err != nil {
			return nil, err
		}
		if s, ok := t.objects[p.key].(*storage); ok {
			return s, p.sameAs(s)
		}
		return nil, fmt.Errorf("no storage has the key %q", p.key)
	}
	key, err := keyOf(id)
	if err != nil {
		return nil, err
	}
	if v := t.objects[key]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("no tensor or storage has the key %s", key)
}
