package wire

import (
	"bytes"
	"testing"
)

// mirror is a Pipe to itself.
type mirror struct{ bytes.Buffer }

func (*mirror) Flush() error { return nil }
func (*mirror) Close() error { return nil }

// TestFrames: what is written is read.
func TestFrames(t *testing.T) {
	var b mirror
	all := []Frame{{FrameMessage, 1, 7, []byte("moments")}, {FrameLeft, 0, 70000, nil},
		{FrameEnded, 0, 0, bytes.Repeat([]byte("x"), MaxFrame)}}
	for _, f := range all {
		if err := WriteFrame(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range all {
		got, err := ReadFrame(&b)
		if err != nil || got.Kind != want.Kind || got.Lane != want.Lane || got.Peer != want.Peer ||
			!bytes.Equal(got.Content, want.Content) {
			t.Errorf("a frame of kind %d came back as kind %d, lane %d, peer %d, %d bytes: %v", want.Kind, got.Kind,
				got.Lane, got.Peer, len(got.Content), err)
		}
	}
}

// FuzzReadFrame: any bytes are a frame or an error, and never more than a frame may have.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 15, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ReadFrame(bytes.NewReader(b))
		if err == nil && len(got.Content) > min(len(b), MaxFrame) {
			t.Errorf("%d bytes are a frame with %d", len(b), len(got.Content))
		}
	})
}
