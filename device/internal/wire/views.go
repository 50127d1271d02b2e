package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// View is a piece of a message between bnctl and a fabric plugin. It is either a range of
// memory that both processes map, or bytes in the frame itself (fabric.proto).
type View struct {
	Pool           uint32 // number of the memory; 0: Inline
	Offset, Length int64
	Inline         []byte
}

// ViewHeader is the length of a view in a frame, without inline bytes.
const ViewHeader = 24

// Views returns the frame of a message that consists of these pieces in order.
func Views(peer int, lane uint8, all []View) Frame {
	f := Frame{Kind: FrameViews, Lane: lane, Peer: peer}
	for _, v := range all {
		if v.Pool == 0 {
			v.Offset, v.Length = 0, int64(len(v.Inline))
		}
		f.Content = binary.LittleEndian.AppendUint64(f.Content, uint64(v.Pool))
		f.Content = binary.LittleEndian.AppendUint64(f.Content, uint64(v.Offset))
		f.Content = binary.LittleEndian.AppendUint64(f.Content, uint64(v.Length))
		f.Content = append(f.Content, v.Inline...)
	}
	return f
}

// Views decodes the content of a frame of kind FrameViews. It does not check whether the
// named memory exists, which only the owner of the memory can do.
func (f Frame) Views() ([]View, error) {
	var all []View
	for b := f.Content; len(b) > 0; {
		if len(b) < ViewHeader {
			return nil, fmt.Errorf("a frame of views has %d bytes too many", len(b))
		}
		pool, at := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		n := binary.LittleEndian.Uint64(b[16:])
		b = b[ViewHeader:]
		if pool > math.MaxUint32 || at > math.MaxInt64 || n > math.MaxInt64 || pool == 0 && n > uint64(len(b)) {
			return nil, fmt.Errorf("a view of %d bytes at %d of pool %d: it is none of bnctl", n, at, pool)
		}
		v := View{Pool: uint32(pool), Offset: int64(at), Length: int64(n)}
		if pool == 0 {
			v.Inline, b = b[:n:n], b[n:]
		}
		all = append(all, v)
	}
	return all, nil
}

// Back returns the frame that gives the memory of a message back to its owner. In a frame from
// bnctl, the memory is the chunk that begins at an offset of the first pool.
func Back(peer int, lane uint8, offset int64) Frame {
	return Frame{Kind: FrameBack, Lane: lane, Peer: peer,
		Content: binary.LittleEndian.AppendUint64(nil, uint64(offset))}
}
