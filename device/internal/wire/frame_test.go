package wire

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// mirror is a Pipe that returns the bytes written to it.
type mirror struct{ bytes.Buffer }

func (*mirror) Flush() error { return nil }
func (*mirror) Close() error { return nil }

// fresh allocates new memory for each content.
func fresh(_ Frame, n int) ([]byte, error) { return make([]byte, n), nil }

// TestFrames checks that frames are read as they were written.
func TestFrames(t *testing.T) {
	var b mirror
	all := []Frame{{Kind: FrameMessage, Lane: 1, Peer: 7, Content: []byte("moments")},
		{Kind: FrameLeft, Peer: 70000}, Await(3, 1, 1<<40),
		{Kind: FrameEnded, Content: bytes.Repeat([]byte("x"), MaxFrame)},
		{Kind: FramePart, Content: []byte("a"), Rest: [][]byte{nil, []byte("bc"), []byte("d")}}}
	for _, f := range all {
		if err := WriteFrame(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range all {
		got, err := ReadFrame(&b, fresh)
		if err != nil || got.Kind != want.Kind || got.Lane != want.Lane || got.Peer != want.Peer ||
			!bytes.Equal(got.Content, slices.Concat(append([][]byte{want.Content}, want.Rest...)...)) {
			t.Errorf("a frame of kind %d came back as kind %d, lane %d, peer %d, %d bytes: %v", want.Kind, got.Kind,
				got.Lane, got.Peer, len(got.Content), err)
		}
	}
}

// TestPieces checks that pieces become the contents of frames of at most MaxFrame bytes.
func TestPieces(t *testing.T) {
	whole := make([]byte, 3*MaxFrame+5)
	for i := range whole {
		whole[i] = byte(i >> 7)
	}
	for _, cuts := range [][]int{{0}, {MaxFrame}, {7, MaxFrame, MaxFrame + 7}, {1, 2*MaxFrame + 3},
		{3 * MaxFrame}} {
		var left [][]byte
		from := 0
		for _, to := range append(cuts, len(whole)) {
			left, from = append(left, whole[from:to]), to
		}
		var got []byte
		for len(left) > 0 {
			var first [][]byte
			first, left = Pieces(left)
			one := slices.Concat(first...)
			if got = append(got, one...); len(one) > MaxFrame || len(left) > 0 && len(one) < MaxFrame {
				t.Errorf("cut at %d: a frame of %d bytes", cuts, len(one))
			}
		}
		if !bytes.Equal(got, whole) {
			t.Errorf("cut at %d: %d other bytes", cuts, len(got))
		}
	}
}

// TestGot checks the number of an Await frame. Other content must yield a number that a
// peer cannot have sent.
func TestGot(t *testing.T) {
	if got := Await(3, 1, 1<<40).Got(); got != 1<<40 {
		t.Errorf("Got is %d, want %d", got, 1<<40)
	}
	for _, n := range []int{0, 7, 9} {
		if got := (Frame{Content: make([]byte, n)}).Got(); got != math.MaxUint64 {
			t.Errorf("%d bytes are the number %d", n, got)
		}
	}
}

// FuzzReadFrame checks that reading any bytes gives a frame or an error, and that the content is never
// longer than MaxFrame.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 15, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ReadFrame(bytes.NewReader(b), fresh)
		if err == nil && len(got.Content) > min(len(b), MaxFrame) {
			t.Errorf("%d bytes are a frame with %d", len(b), len(got.Content))
		}
	})
}
