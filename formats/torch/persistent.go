package torch

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/tensor"
)

// storageID is the persistent id of a storage: ('storage', class, key,
// location, numel), followed by a view in legacy streams.
type storageID struct {
	dtype tensor.DType // 0: untyped
	key   string
	numel int64
	rest  pickle.Tuple
}

func parseID(id any) (storageID, error) {
	t, ok := id.(pickle.Tuple)
	if !ok || len(t) < 5 || t[0] != "storage" {
		return storageID{}, fmt.Errorf("a persistent id that is not of a storage: %s", pickle.Describe(id))
	}
	key, ok1 := t[2].(string)
	numel, ok2 := t[4].(int64)
	if !ok1 || !ok2 {
		return storageID{}, fmt.Errorf("a storage with key %s and length %s",
			pickle.Describe(t[2]), pickle.Describe(t[4]))
	}
	d, err := storageType(t[1])
	if err != nil {
		return storageID{}, fmt.Errorf("storage %q: %w", key, err)
	}
	return storageID{dtype: d, key: key, numel: numel, rest: t[5:]}, nil
}

// sameAs verifies that an id that occurs again means the same storage.
func (p storageID) sameAs(s *storage) error {
	again, err := newStorage(p.key, p.dtype, p.numel)
	if err != nil {
		return err
	}
	if again.dtype != s.dtype || again.size != s.size {
		return fmt.Errorf("storage %q occurs with %d bytes and with %d bytes, or with two types",
			p.key, s.size, again.size)
	}
	return nil
}
