package server

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// decompressorBytes is the memory that a decompressor needs, without its output.
const decompressorBytes = 48 << 10

// decompressor decompresses a body. It returns io.EOF only if the checksum is right, no bytes follow the
// compressed data and, for formats that state a length, the length is right.
type decompressor struct {
	io.Reader
	packed *bufio.Reader
}

// newDecompressor returns a decompressor for an encoding of HTTP. Deflate of HTTP is zlib (RFC 9110,
// 8.4.1.2).
func newDecompressor(encoding string, src io.Reader) (*decompressor, error) {
	d := &decompressor{packed: bufio.NewReader(src)}
	var err error
	switch encoding {
	case "gzip":
		d.Reader, err = gzip.NewReader(d.packed)
	case "deflate":
		d.Reader, err = zlib.NewReader(d.packed)
	default:
		return nil, protocol.Refuse(http.StatusUnsupportedMediaType, "bodies are not taken in the encoding %.40q",
			encoding)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return d, err
}

// errTrailing is the error for bytes after the end of compressed data.
var errTrailing = errors.New("bytes follow the compressed data")

// Read implements io.Reader.
func (d *decompressor) Read(b []byte) (int, error) {
	n, err := d.Reader.Read(b)
	if err != io.EOF {
		return n, err
	}
	switch _, after := d.packed.ReadByte(); after {
	case nil:
		return n, errTrailing
	case io.EOF:
		return n, io.EOF
	default:
		return n, after
	}
}
