package serialize

import (
	"bytes"
	"crypto/sha256"
	"sync/atomic"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// verification compares the checksums of all tensors of a file while others may
// read them.
type verification struct {
	stop atomic.Bool
	done chan struct{}
	err  error // valid when done is closed
}

// verify begins to verify, cores tensors at a time. The function visit is called with each
// tensor that was read.
func verify(table []entry, tensors []named, cores int, visit func(tensor.Tensor)) *verification {
	v := &verification{done: make(chan struct{})}
	go func() {
		defer close(v.done)
		v.err = v.all(table, tensors, cores, visit)
	}()
	return v
}

func (v *verification) all(table []entry, tensors []named, cores int, visit func(tensor.Tensor)) error {
	errs := make([]error, len(table))
	inParallel(len(table), cores, func(i int) {
		if v.stop.Load() {
			return
		}
		t := tensors[i].tensor
		errs[i] = attended(func() error { return table[i].verify(t) })
		visit(t)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// verify returns an error if the checksum of t differs from its entry.
func (e *entry) verify(t tensor.Tensor) error {
	if !bytes.Equal(sumOf(t.Bytes), e.SHA256) {
		return problem.Advise("take another copy", "%v: its checksum differs: the file is damaged", e)
	}
	return nil
}

// sumOf returns the SHA-256 of b. It sums b piece by piece, because the garbage collector has to
// wait until the current piece is summed.
func sumOf(b []byte) []byte {
	const piece = 64 << 10
	h := sha256.New()
	for ; len(b) > piece; b = b[piece:] {
		h.Write(b[:piece])
	}
	h.Write(b)
	return h.Sum(nil)
}

// wait waits for the verification and returns its result.
func (v *verification) wait() error {
	<-v.done
	return v.err
}

// end ends the verification, done or not.
func (v *verification) end() {
	v.stop.Store(true)
	<-v.done
}
