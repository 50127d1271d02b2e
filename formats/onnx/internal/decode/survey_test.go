package decode

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestSurvey checks that the cost of a message is at least its texts and numbers, and that
// a fault is found at its place, at any depth.
func TestSurvey(t *testing.T) {
	wrap := func(number protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), b)
	}
	long := make([]byte, 5000)
	for what, b := range map[string][]byte{"text": wrap(2, long), "bytes": wrap(7, wrap(5, wrap(9, long))),
		"a text inside": wrap(7, wrap(1, wrap(3, long)))} {
		if cost, err := survey(b, modelMessage, 0); err != nil || cost < len(long) {
			t.Errorf("%s: %d bytes, %v", what, cost, err)
		}
	}
	ragged := []byte{0x0a, 0x05, 'x'} // the length says five bytes, but only one follows
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{ragged, "offset 1: field 1"},
		{append(wrap(2, []byte("ok")), ragged...), "offset 5: field 1"},
		{wrap(7, wrap(1, ragged)), "offset 5: field 1"},
		{append(wrap(2, []byte("ok")), wrap(7, wrap(1, ragged))...), "offset 9: field 1"},
		{append(wrap(2, []byte("ok")), 0xff), "offset 4: "},
		{wrap(7, wrap(1, []byte{0x0a, 0x00, 0x07})), "offset 6: "},
	} {
		if _, err := survey(c.b, modelMessage, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%x: %v, want %s", c.b, err, c.want)
		}
	}
}
