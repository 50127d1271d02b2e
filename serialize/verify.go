package serialize

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"

	"github.com/bnctl/bnctl/tensor"
)

// verification compares the checksums of all tensors of a file, on all cores,
// while others may read them.
type verification struct {
	stop atomic.Bool
	done chan struct{}
	err  error // valid when done is closed
}

// verify begins to verify. after is called with each tensor that was read.
func verify(table []entry, tensors []named, after func(tensor.Tensor)) *verification {
	v := &verification{done: make(chan struct{})}
	go func() {
		defer close(v.done)
		v.err = v.all(table, tensors, after)
	}()
	return v
}

func (v *verification) all(table []entry, tensors []named, after func(tensor.Tensor)) error {
	bad := make([]bool, len(table))
	inParallel(len(table), func(i int) {
		if v.stop.Load() {
			return
		}
		t := tensors[i].tensor
		sum := sha256.Sum256(t.Bytes)
		bad[i] = string(sum[:]) != string(table[i].SHA256)
		after(t)
	})
	for i := range bad {
		if bad[i] {
			return fmt.Errorf("%v: its checksum differs: the file is damaged; take another copy", &table[i])
		}
	}
	return nil
}

// wait returns what was found.
func (v *verification) wait() error {
	<-v.done
	return v.err
}

// end ends the verification, done or not.
func (v *verification) end() {
	v.stop.Store(true)
	<-v.done
}
