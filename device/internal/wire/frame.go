package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// FrameKind is the kind of a frame between bnctl and a fabric plugin (fabric.proto).
type FrameKind uint8

const (
	FrameMessage FrameKind = 1 + iota // bytes of a message from or to a peer
	FrameEnded                        // the fabric cannot be used any more
	FrameLeft                         // the peer has left; if the peer is this rank, all others have left
	FrameAbort                        // all ranks must end
	FrameLeave                        // this rank leaves
	FramePart                         // the next frame of this peer and lane continues the message
	FrameAwait                        // bnctl waits for a message; the content is the number received so far
	FramePool                         // announces memory that both sides map; also the answer to this
	FrameViews                        // a message with its pieces in shared memory
	FrameBack                         // the shared memory of a message may be used again
)

// MaxFrame is the maximum size of a frame's content in bytes. Longer messages are split into several
// frames, so that frames of the two lanes can alternate.
const MaxFrame = 256 << 10

// Frame is a frame between bnctl and a fabric plugin.
type Frame struct {
	Kind    FrameKind
	Lane    uint8
	Peer    int
	Content []byte
	Rest    [][]byte // rest of the content, in a frame that is written
}

const frameHeader = 16

// Await returns the frame that announces that bnctl waits for a message of a peer and lane. got
// is the number of messages received before that one.
func Await(from int, lane uint8, got uint64) Frame {
	return Frame{Kind: FrameAwait, Lane: lane, Peer: from, Content: binary.LittleEndian.AppendUint64(nil, got)}
}

// Got returns the number in an Await or Back frame. For other content it returns
// math.MaxUint64.
func (f Frame) Got() uint64 {
	if len(f.Content) != 8 {
		return math.MaxUint64
	}
	return binary.LittleEndian.Uint64(f.Content)
}

// Pieces returns pieces for the content of a frame, up to its maximum length, and the remaining pieces.
func Pieces(all [][]byte) (first, left [][]byte) {
	capacity := MaxFrame
	for i, b := range all {
		if len(b) > capacity {
			return append(first, b[:capacity]), append([][]byte{b[capacity:]}, all[i+1:]...)
		}
		first, capacity = append(first, b), capacity-len(b)
	}
	return first, nil
}

// Bytes returns the length of a frame.
func (f Frame) Bytes() int {
	n := frameHeader + len(f.Content)
	for _, b := range f.Rest {
		n += len(b)
	}
	return n
}

// WriteFrame writes a frame and makes it visible.
func WriteFrame(p Pipe, f Frame) error {
	var h [frameHeader]byte
	h[0], h[1] = byte(f.Kind), f.Lane
	binary.LittleEndian.PutUint32(h[4:], uint32(f.Peer))
	binary.LittleEndian.PutUint64(h[8:], uint64(f.Bytes()-frameHeader))
	for _, b := range append([][]byte{h[:], f.Content}, f.Rest...) {
		if _, err := p.Write(b); err != nil {
			return err
		}
	}
	return p.Flush()
}

// ReadFrame reads the next frame. It calls buffer for the memory of the frame's content, n bytes, and
// returns an error of buffer.
func ReadFrame(r io.Reader, buffer func(f Frame, n int) ([]byte, error)) (Frame, error) {
	var h [frameHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: FrameKind(h[0]), Lane: h[1], Peer: int(binary.LittleEndian.Uint32(h[4:]))}
	n := binary.LittleEndian.Uint64(h[8:])
	if f.Kind < FrameMessage || f.Kind > FrameBack || n > MaxFrame {
		return Frame{}, fmt.Errorf("frame of kind %d with %d bytes: it is none of bnctl", h[0], n)
	}
	var err error
	if f.Content, err = buffer(f, int(n)); err == nil {
		_, err = io.ReadFull(r, f.Content)
	}
	return f, err
}
