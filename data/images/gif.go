package images

import (
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"io"

	"github.com/bnctl/bnctl/data/internal/stream"
)

// gifHead is the number of bytes of a GIF before its colour table.
const gifHead = 13

// sizeOfGIF reads the size of the screen of a GIF. Its pictures are drawn on this screen.
func sizeOfGIF(_ context.Context, file []byte) (height, width int, err error) {
	if len(file) < gifHead {
		return 0, 0, io.ErrUnexpectedEOF
	}
	return int(binary.LittleEndian.Uint16(file[8:])), int(binary.LittleEndian.Uint16(file[6:])), nil
}

func rowsOfGIF(ctx context.Context, file []byte, visit eachPixels) error {
	img, err := firstOfGIF(ctx, file)
	if err != nil {
		return err
	}
	return rowsOfImage(ctx, img, visit)
}

// firstOfGIF decodes the first picture of a GIF to indices into its colour table. As in Pillow, parts of the
// screen outside of the picture have the transparent index, or 0 without one, and the transparent index keeps
// its colour in the table.
func firstOfGIF(ctx context.Context, file []byte) (*image.Paletted, error) {
	h, w, err := sizeOfGIF(ctx, file)
	if err != nil {
		return nil, err
	}
	decoded, err := gif.Decode(stream.NewFile(ctx, file))
	if err != nil {
		return nil, err
	}
	frame, ok := decoded.(*image.Paletted)
	if !ok {
		return nil, errors.New("no indices into a table of colours")
	}
	table, transparent, err := gifColours(file)
	if err != nil {
		return nil, err
	}
	img := image.NewPaletted(image.Rect(0, 0, w, h), make(color.Palette, 256))
	for i := range img.Palette {
		c := color.NRGBA{A: 255}
		if 3*i+3 <= len(table) {
			c.R, c.G, c.B = table[3*i], table[3*i+1], table[3*i+2]
		}
		img.Palette[i] = c
	}
	for i := range img.Pix {
		img.Pix[i] = transparent
	}
	at := frame.Rect
	for y := at.Min.Y; y < at.Max.Y; y++ {
		copy(img.Pix[img.PixOffset(at.Min.X, y):], frame.Pix[frame.PixOffset(at.Min.X, y):][:at.Dx()])
	}
	return img, nil
}

// gifColours returns the colour table of the first picture, or of the file if the picture has none. It also
// returns the transparent index, or 0. It is needed because image/gif makes the transparent colour black.
func gifColours(file []byte) (table []byte, transparent byte, err error) {
	const extension, control, picture, hasTable = 0x21, 0xf9, 0x2c, 0x80
	rest := file[gifHead:]
	take := func(n int) (taken []byte) {
		if n > len(rest) {
			n, err = len(rest), io.ErrUnexpectedEOF
		}
		taken, rest = rest[:n], rest[n:]
		return taken
	}
	colours := func(flags byte) []byte { return take(3 << (flags&7 + 1)) }
	if flags := file[10]; flags&hasTable != 0 {
		table = colours(flags)
	}
	for err == nil {
		head := take(2)
		switch {
		case err != nil:
		case head[0] == picture:
			if about := take(8); err == nil && about[7]&hasTable != 0 {
				table = colours(about[7])
			}
			return table, transparent, err
		case head[0] == extension:
			for n := take(1); err == nil && n[0] > 0; n = take(1) {
				if block := take(int(n[0])); err == nil && head[1] == control && len(block) == 4 && block[0]&1 != 0 {
					transparent = block[3]
				}
			}
		default:
			err = errors.New("neither a picture nor an extension")
		}
	}
	return nil, 0, err
}
