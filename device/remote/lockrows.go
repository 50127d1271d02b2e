package remote

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/bnctl/bnctl/device"
)

// parseLock parses the rows of devices.lock. It accepts only complete rows:
// a missing field must never mean that a check is skipped.
func parseLock(r io.Reader) (Lock, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var l Lock
	if err := d.Decode(&l); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more than one list in it")
	}
	return l, l.check()
}

// check returns an error for the first row that is incomplete, or has the name of
// an earlier row.
func (l Lock) check() error {
	names := map[string]bool{}
	for i, row := range l {
		err := row.check()
		if err == nil && names[row.Name] {
			err = errors.New("an earlier row has this name")
		}
		if err != nil {
			return fmt.Errorf("row %d, plugin %.80q: %w", i+1, row.Name, err)
		}
		names[row.Name] = true
	}
	return nil
}

// check returns an error if a field is missing or invalid. Version is the plugin's
// description of itself and may be empty.
func (r *Locked) check() error {
	sum, err := hex.DecodeString(r.SHA256)
	switch {
	case r.Name == "":
		return errors.New("it has no name")
	case !filepath.IsAbs(r.Path):
		return fmt.Errorf("its path is %.200q, want an absolute path", r.Path)
	case r.Protocol != device.ProtocolV1:
		return fmt.Errorf("its protocol is %d, want %d", r.Protocol, device.ProtocolV1)
	case r.SHA256 == "":
		return errors.New("it has no sha256, so the file cannot be checked")
	case err != nil || len(sum) != 32:
		return fmt.Errorf("its sha256 is %.80q, want 64 hexadecimal digits", r.SHA256)
	}
	return nil
}
