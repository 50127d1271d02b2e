package serialize

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/bnctl/bnctl/internal/regular"
)

// WriteSummed is like regular.WriteLocked, and also returns the SHA-256 of the file, in
// hex. All writers of models use it, so that they hold the lock that protects the files of
// a training. Another goroutine computes the sum while the file is written: without SHA
// instructions the sum takes the same time as all other work.
func WriteSummed(path string, write func(io.Writer) error) (string, error) {
	s := newSummer()
	err := regular.WriteLocked(path, 0o666, func(w io.Writer) error { return write(io.MultiWriter(w, s)) })
	sum := s.end()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum), nil
}

// A piece is the unit of copying and summing. There are at most as many pieces as a large tensor
// fills, so that the tensor is summed while the next one is read and checked.
const (
	sumPiece  = 256 << 10
	sumPieces = 64
)

// summer sums the bytes written to it in a separate goroutine, which exits when end is
// called.
type summer struct {
	piece []byte // being filled
	count int    // number of pieces that were made
	full  chan []byte
	empty chan []byte
	done  chan hash.Hash
}

func newSummer() *summer {
	s := &summer{full: make(chan []byte, sumPieces), empty: make(chan []byte, sumPieces),
		done: make(chan hash.Hash)}
	go func() {
		h := sha256.New()
		for piece := range s.full {
			h.Write(piece)
			s.empty <- piece[:0]
		}
		s.done <- h
	}()
	return s
}

// Write copies p. It returns no error.
func (s *summer) Write(p []byte) (int, error) {
	for left := p; len(left) > 0; {
		if s.piece == nil {
			s.piece = s.next()
		}
		n := min(len(left), sumPiece-len(s.piece))
		s.piece = append(s.piece, left[:n]...)
		left = left[n:]
		if len(s.piece) == sumPiece {
			s.full <- s.piece
			s.piece = nil
		}
	}
	return len(p), nil
}

// next returns an empty piece. It makes a new one if there are few pieces.
func (s *summer) next() []byte {
	if len(s.empty) == 0 && s.count < sumPieces {
		s.count++
		return make([]byte, 0, sumPiece)
	}
	return <-s.empty
}

// end returns the sum of all that was written. The summer must not be used afterwards.
func (s *summer) end() []byte {
	if s.piece != nil {
		s.full <- s.piece
	}
	close(s.full)
	return (<-s.done).Sum(nil)
}
