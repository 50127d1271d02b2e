package images

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/image/webp"
)

// webpHead is the number of bytes before the first chunk of a WebP.
const webpHead = 12

// webpChunk returns the data of the first chunk with a name, from an offset on. A chunk has a name, its
// length, and data that is padded to an even length.
func webpChunk(file []byte, offset int, name string) []byte {
	return chunk(file, offset, name, func(head []byte) (string, int) {
		return string(head[:4]), int(binary.LittleEndian.Uint32(head[4:]))
	}, 0, 2)
}

// frame is the first picture of an animated WebP, and its position on the canvas.
type frame struct {
	file                    []byte // the picture as a complete WebP file
	x, y, w, h              int
	canvasWidth, canvasRows int
}

// animatedWebP returns the first picture of an animation, or nil if the file is not animated.
func animatedWebP(file []byte) (*frame, error) {
	const animation, head = 1 << 1, 16
	about := webpChunk(file, webpHead, "VP8X")
	if len(about) < 10 || about[0]&animation == 0 {
		return nil, nil
	}
	body := webpChunk(file, webpHead, "ANMF")
	if len(body) < head {
		return nil, errors.New("an animation without pictures")
	}
	f := &frame{x: 2 * number24(body), y: 2 * number24(body[3:]), w: number24(body[6:]) + 1,
		h: number24(body[9:]) + 1, canvasWidth: number24(about[4:]) + 1, canvasRows: number24(about[7:]) + 1}
	if f.x+f.w > f.canvasWidth || f.y+f.h > f.canvasRows {
		return nil, fmt.Errorf("a picture of %d x %d at %d, %d of a canvas of %d x %d", f.w, f.h, f.x, f.y,
			f.canvasWidth, f.canvasRows)
	}
	for _, name := range []string{"VP8 ", "VP8L"} { // a separate chunk with alpha for VP8 is ignored
		if image := webpChunk(body, head, name); image != nil {
			f.file = webpOf(name, image)
		}
	}
	c, err := webp.DecodeConfig(bytes.NewReader(f.file))
	if err == nil && (c.Width != f.w || c.Height != f.h) {
		err = fmt.Errorf("a picture of %d x %d, said to be of %d x %d", c.Width, c.Height, f.w, f.h)
	}
	return f, err
}

// number24 reads a number of 24 bits, little endian.
func number24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// webpOf returns a WebP file with a single chunk.
func webpOf(name string, image []byte) []byte {
	padded := (len(image) + 1) / 2 * 2
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(webpHead+padded))
	file = append(file, "WEBP"+name...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(image)))
	return append(append(file, image...), make([]byte, padded-len(image))...)
}

// rows calls visit with each row of the canvas. The canvas is black outside of the picture.
func (f *frame) rows(ctx context.Context, visit eachPixels) error {
	row := make([]byte, 3*f.canvasWidth)
	blank := func(from, to int) {
		for y := from; y < to && ctx.Err() == nil; y++ {
			clear(row)
			visit(y, row)
		}
	}
	blank(0, f.y)
	err := rowsOfWebP(ctx, f.file, func(y int, pixels []byte) {
		clear(row)
		copy(row[3*f.x:], pixels[:3*f.w])
		visit(f.y+y, row)
	})
	if err == nil {
		blank(f.y+f.h, f.canvasRows)
	}
	return err
}
