package serialize

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/problem"
)

// container returns a function that writes a file of the given kind.
func container(k Kind, h *header, tensors []named) (write func(io.Writer) error, err error) {
	if len(tensors) > maxList {
		return nil, fmt.Errorf("%d tensors; at most %d are allowed", len(tensors), maxList)
	}
	h.Tensors = tabulate(tensors)
	body, err := h.encode()
	return func(w io.Writer) error { return writeAll(w, start(k, h.version(), body), h.Tensors, tensors) }, err
}

// start returns the bytes before the tensors: prefix, checksum, header and padding.
func start(k Kind, version uint32, body []byte) []byte {
	b := make([]byte, 0, align(startSize+int64(len(body))))
	b = append(b, magics[k]...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, headerSum(b, body)...)
	b = append(b, body...)
	return b[:cap(b)]
}

// headerSum is the checksum over the 16 bytes before it and the header.
func headerSum(prefix, body []byte) []byte {
	h := sha256.New()
	h.Write(prefix[:prefixSize])
	h.Write(body)
	return h.Sum(nil)
}

func writeAll(w io.Writer, start []byte, table []entry, tensors []named) error {
	if _, err := w.Write(start); err != nil {
		return err
	}
	var padding [alignment]byte
	end := int64(0)
	for i, t := range tensors {
		if _, err := w.Write(padding[:table[i].Offset-end]); err != nil {
			return err
		}
		if _, err := w.Write(t.tensor.Bytes); err != nil {
			return err
		}
		end = table[i].Offset + int64(len(t.tensor.Bytes))
	}
	return nil
}

// readContainer decodes a file. The tensors are unverified views of b.
func readContainer(b []byte) (Kind, *header, []named, error) {
	k, body, err := readStart(b)
	if err != nil {
		return "", nil, nil, err
	}
	h, err := decodeHeader(body)
	if err != nil {
		return "", nil, nil, err
	}
	from := align(startSize + int64(len(body)))
	if from > int64(len(b)) {
		return "", nil, nil, fmt.Errorf("%d bytes, the header's padding ends at %d: the file is cut short",
			len(b), from)
	}
	if !zeros(b[startSize+len(body) : from]) {
		return "", nil, nil, fmt.Errorf("the padding behind the header is not zero: the file is damaged")
	}
	tensors, err := extract(h.Tensors, b[from:])
	return k, h, tensors, err
}

// readStart verifies prefix and checksum and returns the header's bytes.
func readStart(b []byte) (Kind, []byte, error) {
	k, ok := sniff(b)
	switch {
	case len(b) == 0:
		return "", nil, fmt.Errorf("the file is empty")
	case !ok:
		return "", nil, fmt.Errorf("begins with %q: neither a bnctl template nor a checkpoint",
			b[:min(len(b), magicSize)])
	case len(b) < startSize:
		return "", nil, fmt.Errorf("%d bytes: the file is cut short", len(b))
	}
	version := binary.LittleEndian.Uint32(b[magicSize:])
	length := int64(binary.LittleEndian.Uint32(b[magicSize+4:]))
	switch left := int64(len(b) - startSize); {
	case version > Version:
		return "", nil, problem.Advise("use a newer one",
			"container version %d; this bnctl reads up to %d", version, Version)
	case version < 1:
		return "", nil, fmt.Errorf("container version 0: the file is damaged")
	case length > maxHeader:
		return "", nil, fmt.Errorf("claims a header of %d bytes; at most %d are allowed", length, maxHeader)
	case length > left:
		return "", nil, fmt.Errorf("claims a header of %d bytes, %d are left: the file is cut short", length, left)
	}
	body := b[startSize : startSize+length]
	if !bytes.Equal(b[prefixSize:startSize], headerSum(b, body)) {
		return "", nil, problem.Advise("take another copy",
			"the header's checksum differs: the file is damaged")
	}
	return k, body, nil
}

// HasMagic reports whether head, the first 4 bytes of a file or more, begins like a
// file of bnctl. The rest of the file may still be damaged.
func HasMagic(head []byte) bool {
	for _, magic := range magics {
		if bytes.HasPrefix(head, []byte(magic[:magicPrefix])) {
			return true
		}
	}
	return false
}

// sniff returns the kind of a file from its first bytes (8 are enough), or false if the file is not
// one of bnctl's.
func sniff(b []byte) (Kind, bool) {
	for _, k := range []Kind{Template, Training} {
		if bytes.HasPrefix(b, []byte(magics[k])) {
			return k, true
		}
	}
	return "", false
}
