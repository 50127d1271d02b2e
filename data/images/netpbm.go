package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"strconv"

	"github.com/bnctl/bnctl/data/internal/stream"
)

// netpbm is a PPM or PGM file. After a header of text, it has a number for each sample of each pixel, row by
// row. Numbers are text, one byte, or two bytes with the higher byte first. The pictures of GTSRB have this
// format.
type netpbm struct {
	h, w, channels int
	white          int // largest number, which means white
	text           bool
	pixels         []byte // bytes after the header
}

// maxDigits is the maximum length of a number, as in Pillow.
const maxDigits = 10

// openNetpbm reads the header of a file of kind P2 (PGM in text), P3 (PPM in text), P5 or P6.
func openNetpbm(file []byte) (p *netpbm, err error) {
	p = &netpbm{channels: 1, text: file[1] <= '3', pixels: file[2:]}
	if file[1] == '3' || file[1] == '6' {
		p.channels = 3
	}
	for _, field := range []*int{&p.w, &p.h, &p.white} {
		if *field, err = p.number(); err != nil {
			return nil, err
		}
	}
	if p.w < 1 || p.h < 1 || p.white < 1 || p.white > 65535 {
		return nil, fmt.Errorf("%d x %d pixels of 0 to %d; want a size above 0, and at most 65535", p.w, p.h,
			p.white)
	}
	if !p.text {
		if len(p.pixels) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		p.pixels = p.pixels[1:] // one blank ends the header
	}
	return p, nil
}

// number reads the next number of text, after blanks and comments. A comment extends from # to the end of the
// line.
func (p *netpbm) number() (int, error) {
	for len(p.pixels) > 0 {
		switch c := p.pixels[0]; {
		case c == '#':
			_, p.pixels, _ = bytes.Cut(p.pixels, []byte("\n"))
		case isBlank(c):
			p.pixels = p.pixels[1:]
		default:
			n := 0
			for n < len(p.pixels) && n <= maxDigits && !isBlank(p.pixels[n]) && p.pixels[n] != '#' {
				n++
			}
			v, err := strconv.ParseUint(string(p.pixels[:n]), 10, 31)
			if err != nil {
				return 0, fmt.Errorf("%q, want a number", p.pixels[:n])
			}
			p.pixels = p.pixels[n:]
			return int(v), nil
		}
	}
	return 0, io.ErrUnexpectedEOF
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// sizeOfNetpbm reads the size of the picture, and returns an error if the file is too short for its pixels.
func sizeOfNetpbm(_ context.Context, file []byte) (height, width int, err error) {
	p, err := openNetpbm(file)
	if err != nil {
		return 0, 0, err
	}
	least := 2 // a digit and a blank
	if !p.text {
		least = p.width()
	}
	if p.w > maxPixels/p.h || p.h*p.w*p.channels*least > len(p.pixels)+1 {
		if p.w > maxPixels/p.h {
			return p.h, p.w, nil // the caller will refuse this size
		}
		return 0, 0, io.ErrUnexpectedEOF
	}
	return p.h, p.w, nil
}

// width returns the number of bytes of a sample.
func (p *netpbm) width() int {
	if p.white > 255 {
		return 2
	}
	return 1
}

// row reads the samples of the next row.
func (p *netpbm) row(dst []int) error {
	if p.text {
		for i := range dst {
			v, err := p.number()
			if err != nil {
				return err
			}
			dst[i] = v
		}
	} else {
		n := p.width()
		if len(p.pixels) < n*len(dst) {
			return io.ErrUnexpectedEOF
		}
		for i := range dst {
			dst[i] = int(p.pixels[n*i])
			if n == 2 {
				dst[i] = dst[i]<<8 | int(p.pixels[2*i+1])
			}
		}
		p.pixels = p.pixels[n*len(dst):]
	}
	for i, v := range dst {
		if v > p.white {
			if p.text {
				return fmt.Errorf("a sample of %d, and the largest is said to be %d", v, p.white)
			}
			dst[i] = p.white // as in Pillow, larger numbers are white
		}
	}
	return nil
}

// rowsOfNetpbm calls visit with each row of the picture. White becomes 255.
func rowsOfNetpbm(ctx context.Context, file []byte, visit eachPixels) error {
	p, err := openNetpbm(file)
	if err != nil {
		return err
	}
	samples, pixels := make([]int, p.w*p.channels), make([]byte, 3*p.w)
	for y := range p.h {
		if err := stream.ContextErr(ctx); err != nil {
			return err
		}
		if err := p.row(samples); err != nil {
			return err
		}
		for x := range p.w {
			for c := range 3 {
				pixels[3*x+c] = p.scaled(samples[p.channels*x+c*(p.channels-1)/2])
			}
		}
		visit(y, pixels)
	}
	return nil
}

// scaled returns 255 v / most, rounded half to even.
func (p *netpbm) scaled(v int) byte {
	q, r := v*255/p.white, v*255%p.white
	if 2*r > p.white || 2*r == p.white && q%2 == 1 {
		q++
	}
	return byte(q)
}

// greyOfNetpbm returns the numbers of a PGM without scaling them. In a mask they are the classes.
func greyOfNetpbm(file []byte) (image.Image, error) {
	p, err := openNetpbm(file)
	if err != nil {
		return nil, err
	}
	if p.channels != 1 || p.white > 255 {
		return nil, errors.New("a PGM of numbers up to 255 is wanted")
	}
	img, samples := image.NewGray(image.Rect(0, 0, p.w, p.h)), make([]int, p.w)
	for y := range p.h {
		if err := p.row(samples); err != nil {
			return nil, err
		}
		for x, v := range samples {
			img.Pix[y*img.Stride+x] = byte(v)
		}
	}
	return img, nil
}
