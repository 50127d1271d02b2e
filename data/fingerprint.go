package data

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Fingerprint implements Source.
func (m *memory) Fingerprint(context.Context) (string, error) {
	h := newFingerprint(m.info)
	h.numbers(m.labels)
	h.text(m.x.String())
	h.Write(m.x.Bytes)
	return h.sum(), nil
}

// If the pictures have up to wholeBytes in total, the content of all of them is hashed. Otherwise only the
// content of sampledFiles of them, evenly spread, is hashed. Of the others, only names and sizes are hashed.
const (
	wholeBytes   = 1 << 30
	sampledFiles = 4096
)

// Fingerprint implements Source.
func (p *pictures) Fingerprint(ctx context.Context) (string, error) {
	step := p.hashed()
	contents := make([][sha256.Size]byte, (len(p.samples)+step-1)/step)
	defer p.readInOrder(ctx, step)()
	err := eachSample(len(contents), func(k int) error {
		file, err := p.samples[k*step].read()
		if err != nil {
			return p.wrap(k*step, err)
		}
		contents[k] = sha256.Sum256(file)
		for _, f := range p.info.formats {
			f.add(file)
		}
		return ctx.Err()
	})
	if err != nil {
		return "", err
	}
	for i, s := range p.samples {
		for _, f := range p.info.formats {
			if i%step != 0 {
				f.addExtension(s.name)
			}
		}
	}
	h := newFingerprint(p.info)
	h.text("decoder " + p.info.Decoder)
	h.numbers(p.labels)
	for _, s := range p.samples {
		h.text(s.rest)
		h.number(s.size)
	}
	for _, c := range contents {
		h.Write(c[:])
	}
	return h.sum(), nil
}

// hashed returns n: the content of every n-th sample is hashed.
func (p *pictures) hashed() int {
	total := int64(0)
	for _, s := range p.samples {
		total += s.size
	}
	if total > wholeBytes {
		return (len(p.samples) + sampledFiles - 1) / sampledFiles
	}
	return 1
}

// fingerprint hashes numbers and texts. It separates them, so that different lists never give the same
// sequence of bytes.
type fingerprint struct{ hash.Hash }

// newFingerprint starts with the fields that all kinds of sources have.
func newFingerprint(i Info) fingerprint {
	h := fingerprint{sha256.New()}
	h.text("bnctl data 1")
	h.number(int64(i.Len))
	h.text(fmt.Sprint(i.LabelShape))
	h.number(int64(len(i.Classes)))
	for _, c := range i.Classes {
		h.text(c)
	}
	return h
}

func (h fingerprint) number(n int64) {
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func (h fingerprint) numbers(values []int32) {
	h.number(int64(len(values)))
	for _, n := range values {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
	}
}

func (h fingerprint) text(s string) {
	h.number(int64(len(s)))
	h.Write([]byte(s))
}

func (h fingerprint) sum() string { return hex.EncodeToString(h.Sum(nil)) }
