package tfevents

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// point is a scalar as a reader decodes it.
type point struct {
	step  int64
	tag   string
	value float32
}

// read reads an event file as TensorBoard does, checksums included.
func read(r io.Reader) (version string, points []point, err error) {
	for {
		var head [12]byte
		if _, err := io.ReadFull(r, head[:]); errors.Is(err, io.EOF) {
			return version, points, nil
		} else if err != nil {
			return "", nil, err
		}
		body := make([]byte, binary.LittleEndian.Uint64(head[:])+4)
		if _, err := io.ReadFull(r, body); err != nil {
			return "", nil, err
		}
		message := body[:len(body)-4]
		if binary.LittleEndian.Uint32(head[8:]) != masked(head[:8]) ||
			binary.LittleEndian.Uint32(body[len(message):]) != masked(message) {
			return "", nil, errors.New("a checksum differs")
		}
		step := int64(0)
		each(message, func(field protowire.Number, number uint64, text []byte) {
			switch field {
			case eventStep:
				step = int64(number)
			case eventVersion:
				version = string(text)
			case eventSummary:
				each(text, func(_ protowire.Number, _ uint64, value []byte) {
					p := point{step: step}
					each(value, func(field protowire.Number, number uint64, text []byte) {
						if p.value = math.Float32frombits(uint32(number)); field == valueTag {
							p.tag = string(text)
						}
					})
					points = append(points, p)
				})
			}
		})
	}
}

// each calls see for every field of a message.
func each(b []byte, see func(field protowire.Number, number uint64, text []byte)) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		b = b[n:]
		var number uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			number = uint64(v)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(b)
		default:
			text, n = protowire.ConsumeBytes(b)
		}
		see(field, number, text)
		b = b[n:]
	}
}

func TestWriter(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs", "run")
	w, err := Create(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []point{{10, "step/loss", 2.5}, {10, "step/lr", 0.125},
		{1 << 40, "epoch/val_loss", float32(math.Inf(1))}}
	if err := w.Write(10, Scalar{"step/loss", 2.5}, Scalar{"step/lr", 0.125}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(1<<40, Scalar{"epoch/val_loss", math.Inf(1)}), w.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// Every event file of TensorFlow begins with these bytes: a record of 24
	// bytes, the checksum of that length, a time.
	if head := "\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\x4b\x22\x09"; !strings.HasPrefix(string(b), head) {
		t.Errorf("the file begins with %x, want %x", b[:len(head)], head)
	}
	version, got, err := read(bytes.NewReader(b))
	if err != nil || version != "brain.Event:2" || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("version %q, points %v, %v; want %v", version, got, err, want)
	}
	again, err := Create(folder) // a resumed run
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if _, err := Create(files[0]); err == nil {
		t.Error("a file was taken for a folder")
	}
}
