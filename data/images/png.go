package images

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image/png"
	"io"

	"github.com/bnctl/bnctl/data/internal/stream"
)

// rowsOfPNG decodes a PNG. If the PNG is not interlaced, it is decoded row by row to save memory: a decoded
// pixel may need eight bytes, and one byte of a file may contain a thousand pixels.
func rowsOfPNG(ctx context.Context, file []byte, visit eachPixels) error {
	if interlaced(file) {
		return rowsBy(png.Decode)(ctx, file, visit)
	}
	p, err := openPNG(ctx, file)
	if err != nil {
		return err
	}
	raw, before := make([]byte, p.rowBytes()+1), make([]byte, p.rowBytes()+1)
	pixels := make([]byte, 3*p.w)
	for y := range p.h {
		if err := stream.ContextErr(ctx); err != nil {
			return err
		}
		if _, err := io.ReadFull(p.unpacked, raw); err != nil {
			return p.broken(err)
		}
		if err := unfilter(raw, before[1:], p.pixelBytes()); err != nil {
			return err
		}
		p.convert(pixels, raw[1:])
		visit(y, pixels)
		raw, before = before, raw
	}
	return p.end()
}

// Colour types of a PNG, as bits (PNG specification, 11.2.1).
const (
	pngPalette = 1
	pngColour  = 2
	pngAlpha   = 4
)

// pngFile is the state of reading the chunks of a PNG.
type pngFile struct {
	rest        []byte // chunks that have not been read yet
	w, h        int
	bits, kind  int
	palette     [256][3]byte
	transparent []byte // the transparent colour, with 16 bits per sample
	data        []byte // rest of an IDAT chunk
	ended       bool   // the next chunk is not an IDAT chunk
	unpacked    io.ReadCloser
}

var errPNG = errors.New("png: invalid format: a chunk out of order, or of another length")

// interlaced reports whether the header states that pixels are stored in several passes.
func interlaced(file []byte) bool { return len(file) > 28 && file[28] != 0 }

// openPNG reads the chunks before the pixels. The caller has checked size and type with DecodeConfig.
func openPNG(ctx context.Context, file []byte) (*pngFile, error) {
	p := &pngFile{rest: file[8:]}
	const header, palette, transparency = 1, 2, 3
	for seen := 0; ; {
		name, body, err := p.chunk()
		if err != nil {
			return nil, err
		}
		coloured := p.kind&pngColour != 0
		switch name {
		case "IHDR":
			if len(body) != 13 || seen > 0 {
				return nil, errPNG
			}
			p.w, p.h = int(binary.BigEndian.Uint32(body)), int(binary.BigEndian.Uint32(body[4:]))
			p.bits, p.kind, seen = int(body[8]), int(body[9]), header
		case "PLTE":
			if n := len(body) / 3; seen != header || !coloured || len(body)%3 != 0 || n == 0 || n > 1<<min(p.bits, 8) {
				return nil, errPNG
			}
			for i := range len(body) / 3 {
				p.palette[i] = [3]byte(body[3*i:])
			}
			seen = palette
		case "tRNS":
			n := 2 * p.samples()
			if paletted := p.kind&pngPalette != 0; seen == 0 || seen > palette || p.kind&pngAlpha != 0 ||
				paletted && (seen != palette || len(body) > 256) || !paletted && len(body) != n {
				return nil, errPNG
			}
			p.transparent, seen = body, transparency
		case "IEND":
			return nil, errPNG
		case "IDAT":
			if seen == 0 || seen == header && p.kind&pngPalette != 0 {
				return nil, errPNG
			}
			p.data = body
			p.unpacked, err = zlib.NewReader(stream.NewReader(ctx, p))
			return p, err
		}
	}
}

// chunk returns the next chunk after checking its checksum.
func (p *pngFile) chunk() (name string, body []byte, err error) {
	if len(p.rest) < 12 {
		return "", nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.BigEndian.Uint32(p.rest))
	if n > int64(len(p.rest)-12) {
		return "", nil, io.ErrUnexpectedEOF
	}
	body = p.rest[8 : 8+n]
	if crc32.ChecksumIEEE(p.rest[4:8+n]) != binary.BigEndian.Uint32(p.rest[8+n:]) {
		return "", nil, errors.New("png: invalid format: invalid checksum")
	}
	name, p.rest = string(p.rest[4:8]), p.rest[12+n:]
	return name, body, nil
}

// Read reads the content of consecutive IDAT chunks.
func (p *pngFile) Read(b []byte) (int, error) {
	for len(p.data) == 0 {
		if p.ended || len(p.rest) >= 8 && string(p.rest[4:8]) != "IDAT" {
			p.ended = true
			return 0, io.EOF
		}
		_, body, err := p.chunk()
		if err != nil {
			return 0, err
		}
		p.data = body
	}
	n := copy(b, p.data)
	p.data = p.data[n:]
	return n, nil
}

// broken returns the error for rows that end too early.
func (p *pngFile) broken(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("png: invalid format: not enough pixel data")
	}
	return err
}

// end checks that the pixels end here. It also checks their checksum, and the chunks after them.
func (p *pngFile) end() error {
	var one [1]byte
	switch n, err := io.ReadFull(p.unpacked, one[:]); {
	case n > 0:
		return errors.New("png: invalid format: too much pixel data")
	case err != io.EOF:
		return err
	}
	if len(p.data) > 0 {
		return errors.New("png: invalid format: too much pixel data")
	}
	for {
		switch name, _, err := p.chunk(); {
		case err != nil:
			return err
		case name == "IEND":
			return nil
		case name == "IHDR" || name == "PLTE" || name == "tRNS":
			return errPNG // the chunk comes too late
		}
	}
}

// samples returns the number of samples of a pixel.
func (p *pngFile) samples() int {
	switch p.kind {
	case pngColour:
		return 3
	case pngAlpha:
		return 2
	case pngColour | pngAlpha:
		return 4
	}
	return 1
}

func (p *pngFile) rowBytes() int { return (p.w*p.samples()*p.bits + 7) / 8 }

// pixelBytes returns the distance in bytes between a byte and the byte that filters compare it with: the one
// in the pixel before.
func (p *pngFile) pixelBytes() int { return max(p.samples()*p.bits/8, 1) }

// unfilter reverses the filter that the first byte of a row names (PNG specification, 9.2).
func unfilter(row, above []byte, pixel int) error {
	filter, x := row[0], row[1:]
	above = above[:len(x)]
	switch filter {
	case 0:
	case 1:
		for i := pixel; i < len(x); i++ {
			x[i] += x[i-pixel]
		}
	case 2:
		for i, v := range above {
			x[i] += v
		}
	case 3:
		for i, v := range above {
			left := 0
			if i >= pixel {
				left = int(x[i-pixel])
			}
			x[i] += byte((left + int(v)) / 2)
		}
	case 4:
		for i, v := range above {
			if i < pixel {
				x[i] += v // here the predictor paeth(0, above, 0) equals above
				continue
			}
			x[i] += paeth(x[i-pixel], v, above[i-pixel])
		}
	default:
		return errors.New("png: invalid format: bad filter type")
	}
	return nil
}

// paeth returns that one of a, b and c which is nearest to a + b - c (PNG specification, 9.4).
func paeth(a, b, c byte) byte {
	off := func(v byte) int { return max(int(a)+int(b)-int(c)-int(v), int(v)+int(c)-int(a)-int(b)) }
	switch {
	case off(a) <= off(b) && off(a) <= off(c):
		return a
	case off(b) <= off(c):
		return b
	}
	return c
}

// convert converts a row of samples to RGB, to the same pixels as rowsOfImage for a picture of image/png.
func (p *pngFile) convert(dst, raw []byte) {
	switch n := p.samples(); {
	case p.kind&pngPalette != 0:
		for x := range p.w {
			copy(dst[3*x:3*x+3], p.palette[p.shortSample(raw, x)][:])
		}
	case p.bits < 8:
		one := byte(255 / (1<<p.bits - 1))
		for x := range p.w {
			v := p.shortSample(raw, x) * one
			dst[3*x], dst[3*x+1], dst[3*x+2] = v, v, v
		}
	case p.bits == 16:
		p.convert16(dst, raw, n)
	case n <= 2:
		for x := range p.w {
			v := raw[n*x]
			dst[3*x], dst[3*x+1], dst[3*x+2] = v, v, v
		}
	default:
		for x := range p.w {
			copy(dst[3*x:3*x+3], raw[n*x:])
		}
	}
}

// shortSample returns sample x of a row, if samples have at most 8 bits.
func (p *pngFile) shortSample(raw []byte, x int) byte {
	at := x * p.bits
	return raw[at/8] << (at % 8) >> (8 - p.bits)
}

// convert16 keeps the upper 8 of 16 bits. A pixel that is not opaque is first multiplied by alpha and then
// divided by it again. So a pixel with alpha 0 becomes black.
func (p *pngFile) convert16(dst, raw []byte, n int) {
	for x := range p.w {
		pixel, alpha := raw[2*n*x:2*n*(x+1)], uint32(0xffff)
		switch {
		case p.kind&pngAlpha != 0:
			alpha = uint32(binary.BigEndian.Uint16(pixel[2*n-2:]))
		case bytes.Equal(p.transparent, pixel):
			alpha = 0
		}
		for i := range 3 {
			at := 2 * i
			if n <= 2 {
				at = 0
			}
			v := uint32(binary.BigEndian.Uint16(pixel[at:]))
			switch alpha {
			case 0xffff:
			case 0:
				v = 0
			default:
				v = v * alpha / 0xffff * 0xffff / alpha
			}
			dst[3*x+i] = byte(v >> 8)
		}
	}
}
