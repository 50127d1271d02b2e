package torch

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/problem"
)

// zipStorages finds the storages of a zip archive by their keys.
type zipStorages struct {
	c     *content
	zip   *foreign.Zip
	stem  string // the common folder of all members
	big   bool
	byKey map[string]*storage
}

// openZip reads an archive of PyTorch 1.6 or later: one folder with data.pkl
// and a member data/KEY for every storage.
func (c *content) openZip() error {
	z, err := foreign.OpenZip(c.src, c.size)
	if err != nil {
		return err
	}
	main, err := mainPickle(z)
	if err != nil {
		return err
	}
	s := &zipStorages{c: c, zip: z, stem: path.Dir(main.Name), byKey: map[string]*storage{}}
	if s.big, err = bigEndian(z, s.stem); err != nil {
		return err
	}
	b, err := z.ReadAll(main, maxPickle)
	if err != nil {
		return err
	}
	if c.root, err = c.pickles(bytes.NewReader(b), main.Size, s.resolve).Load(); err != nil {
		return fmt.Errorf("%s: %w", main.Name, err)
	}
	return nil
}

// mainPickle finds data.pkl, which determines the stem, and rejects TorchScript.
func mainPickle(z *foreign.Zip) (foreign.Entry, error) {
	var found []foreign.Entry
	for _, e := range z.Entries {
		dir, base := path.Split(e.Name)
		switch {
		case strings.Count(dir, "/") != 1:
			if strings.Contains(dir, "/code/") {
				return e, problem.Advise(adviceScript, "a TorchScript program (%s)", e.Name)
			}
		case base == "constants.pkl":
			return e, problem.Advise(adviceScript, "a TorchScript program (%s)", e.Name)
		case base == "data.pkl":
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return foreign.Entry{}, fmt.Errorf("the archive has %d members FOLDER/data.pkl, want 1", len(found))
	}
	return found[0], nil
}

// bigEndian reads the member byteorder, which files before PyTorch 2.1 lack.
func bigEndian(z *foreign.Zip, stem string) (bool, error) {
	e, ok := z.Entry(stem + "/byteorder")
	if !ok {
		return false, nil
	}
	b, err := z.ReadAll(e, 64)
	if err != nil {
		return false, err
	}
	switch order := strings.TrimSpace(string(b)); order {
	case "little":
		return false, nil
	case "big":
		return true, nil
	default:
		return false, fmt.Errorf("%s: byte order %q; want little or big", e.Name, order)
	}
}

// resolve returns the storage of ('storage', class, key, location, numel).
func (s *zipStorages) resolve(id any) (any, error) {
	p, err := parseID(id)
	if err != nil {
		return nil, err
	}
	if have, ok := s.byKey[p.key]; ok {
		return have, p.sameAs(have)
	}
	e, ok := s.zip.Entry(s.stem + "/data/" + p.key)
	if !ok {
		return nil, fmt.Errorf("storage %q has no member %s/data/%s", p.key, s.stem, p.key)
	}
	if err := e.Stored(); err != nil {
		return nil, err
	}
	store, err := newStorage(p.key, p.dtype, p.numel)
	if err != nil {
		return nil, err
	}
	if store.size != e.Size {
		return nil, fmt.Errorf("zip member %q has %d bytes, its storage %d", e.Name, e.Size, store.size)
	}
	store.big, store.crc = s.big, e.CheckCRC
	s.byKey[p.key] = store
	return store, store.setOffset(s.c.src, e.Offset, s.c.size)
}
