package images

import (
	"context"

	"github.com/bnctl/bnctl/data/internal/jpeg"
	"github.com/bnctl/bnctl/data/internal/stream"
)

// rowsOfJPEG decodes a JPEG to the same pixels as Pillow with libjpeg-turbo.
func rowsOfJPEG(ctx context.Context, file []byte, visit eachPixels) error {
	var planes []*upsampler
	var rows [][]byte
	var pixels []byte
	next := 0
	return jpeg.Rows(ctx, file, func(p *jpeg.Picture, known int) error {
		if planes == nil {
			for _, plane := range p.Planes {
				planes = append(planes, newUpsampler(plane))
			}
			rows, pixels = make([][]byte, len(planes)), make([]byte, 3*p.Width)
		}
		if known < p.Height {
			known-- // while the number of rows is odd, the last one is mixed with samples that are not known yet
		}
		for ; next < known; next++ {
			if err := stream.ContextErr(ctx); err != nil {
				return err
			}
			for i, u := range planes {
				rows[i] = u.row(next)[:p.Width]
			}
			toPixels(pixels, rows, p.Space)
			visit(next, pixels)
		}
		return nil
	})
}

// toPixels writes a row of RGB pixels from a row of each plane.
func toPixels(dst []byte, rows [][]byte, space jpeg.Space) {
	switch space {
	case jpeg.Grey:
		interleaveRow(dst, rows[0], rows[0], rows[0])
	case jpeg.RGB:
		interleaveRow(dst, rows[0], rows[1], rows[2])
	case jpeg.YCbCr:
		rowYCC(dst, rows[0], rows[1], rows[2])
	case jpeg.CMYK:
		interleaveRow(dst, rows[0], rows[1], rows[2])
		for i, v := range dst {
			dst[i] = 255 - v // the planes are stored inverted
		}
		multiplyBlack(dst, rows[3])
	case jpeg.YCbCrK:
		rowYCC(dst, rows[0], rows[1], rows[2]) // no inversion: the planes are inverted, and so are the colours
		multiplyBlack(dst, rows[3])
	}
}

func interleaveRow(dst, r, g, b []byte) {
	for x := range r {
		dst[3*x], dst[3*x+1], dst[3*x+2] = r[x], g[x], b[x]
	}
}

// rowYCC converts a row of pixels from full-range YCbCr (ITU-R 601, JFIF) to
// RGB with the 16 fractional bits and the rounding of libjpeg-turbo (jdcolor.c):
//
//	R = Y + 1.40200 Cr
//	G = Y - 0.34414 Cb - 0.71414 Cr
//	B = Y + 1.77200 Cb
func rowYCC(dst, luma, cb, cr []byte) {
	const half = 1 << 15
	cb, cr = cb[:len(luma)], cr[:len(luma)]
	for x, l := range luma {
		y, b, r := int32(l), int32(cb[x])-128, int32(cr[x])-128
		pixel := dst[3*x : 3*x+3 : 3*x+3]
		pixel[0] = clamped(y + (91881*r+half)>>16)
		pixel[1] = clamped(y + (-22554*b-46802*r+half)>>16)
		pixel[2] = clamped(y + (116130*b+half)>>16)
	}
}

// clamped returns v limited to the range of a byte.
func clamped(v int32) byte {
	if uint32(v) > 255 {
		return byte(^(v >> 31)) // 0 if v is below, 255 if it is above
	}
	return byte(v)
}

// multiplyBlack converts a row of cyan, magenta and yellow to RGB, as Pillow does (cmyk2rgb). The value of
// each ink is multiplied by the light that black leaves. Black is stored inverted.
func multiplyBlack(row, notBlack []byte) {
	for x, white := range notBlack {
		for i, ink := range row[3*x : 3*x+3] {
			product := int(ink)*int(white) + 128
			row[3*x+i] = white - byte((product+product>>8)>>8)
		}
	}
}
