package jpeg

import "bytes"

// Segment is a marker with its body. For a scan, the body is only the header.
type Segment struct {
	Marker byte
	Body   []byte
}

// Segments yields the segments of a file, up to its end or the first invalid segment. It decodes nothing.
// Between two segments it only looks for 0xff. It finds every scan that Decode would find, because both stop
// at every marker.
func Segments(file []byte) func(yield func(Segment) bool) {
	return func(yield func(Segment) bool) {
		rest := file[min(2, len(file)):]
		for {
			at := bytes.IndexByte(rest, 0xff)
			if at < 0 || at+1 == len(rest) {
				return
			}
			marker := rest[at+1]
			if marker == 0xff { // a fill byte: the next byte may begin the marker
				rest = rest[at+1:]
				continue
			}
			rest = rest[at+2:]
			if marker == 0 || rst0 <= marker && marker <= rst7 {
				continue // these bytes are a part of a scan
			}
			if marker == eoi || len(rest) < 2 {
				return
			}
			n := int(rest[0])<<8 + int(rest[1])
			if n < 2 || n > len(rest) {
				return
			}
			if !yield(Segment{marker, rest[2:n]}) {
				return
			}
			rest = rest[n:]
		}
	}
}
