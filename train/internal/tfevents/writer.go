// Package tfevents writes the curves of a run as event files for TensorBoard: records in
// TFRecord framing, each a message of event.proto. Only scalars are supported.
package tfevents

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Scalar is one point of a curve.
type Scalar struct {
	Tag   string // the curve's name: "step/loss"
	Value float64
}

// Writer appends to one event file.
type Writer struct{ file *os.File }

// Create makes a new event file in a folder, and the folder if it does not exist. Several
// files in one folder are one run: a resumed run continues in a new file.
func Create(folder string) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "host"
	}
	now := time.Now()
	name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d", now.Unix(), host, os.Getpid(), now.Nanosecond())
	f, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	w := &Writer{f}
	if err := w.record(version(now)); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Write appends points at a step. They are in the file when it returns.
func (w *Writer) Write(step int64, scalars ...Scalar) error {
	return w.record(event(time.Now(), step, scalars))
}

// Close closes the file.
func (w *Writer) Close() error { return w.file.Close() }

// Field numbers of tensorflow.Event, Summary and Summary.Value.
const (
	eventTime, eventStep, eventVersion, eventSummary = 1, 2, 3, 5

	summaryValue          = 1
	valueTag, valueScalar = 1, 2
)

// version is the first event of a file.
func version(t time.Time) []byte {
	b := stamp(nil, t)
	b = protowire.AppendTag(b, eventVersion, protowire.BytesType)
	return protowire.AppendString(b, "brain.Event:2")
}

func event(t time.Time, step int64, scalars []Scalar) []byte {
	b := stamp(nil, t)
	b = protowire.AppendTag(b, eventStep, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(step))
	var summary []byte
	for _, s := range scalars {
		v := protowire.AppendTag(nil, valueTag, protowire.BytesType)
		v = protowire.AppendString(v, s.Tag)
		v = protowire.AppendTag(v, valueScalar, protowire.Fixed32Type)
		v = protowire.AppendFixed32(v, math.Float32bits(float32(s.Value)))
		summary = protowire.AppendTag(summary, summaryValue, protowire.BytesType)
		summary = protowire.AppendBytes(summary, v)
	}
	b = protowire.AppendTag(b, eventSummary, protowire.BytesType)
	return protowire.AppendBytes(b, summary)
}

// stamp appends the time of an event, in seconds since 1970.
func stamp(b []byte, t time.Time) []byte {
	b = protowire.AppendTag(b, eventTime, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, math.Float64bits(float64(t.UnixNano())/1e9))
}

// record appends one record in one write: its length, the checksum of the length, the message, and the
// checksum of the message.
func (w *Writer) record(message []byte) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(message)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, message...)
	b = binary.LittleEndian.AppendUint32(b, masked(message))
	_, err := w.file.Write(b)
	return err
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// masked returns the checksum of TFRecord: CRC-32C, rotated, plus a constant. Without this change, the CRC
// of data that contains CRCs would be weak.
func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli())
	return (c>>15 | c<<17) + 0xa282ead8
}
