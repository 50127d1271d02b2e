package images

import (
	"context"
	"image"

	"golang.org/x/image/webp"

	"github.com/bnctl/bnctl/data/internal/stream"
)

// rowsOfWebP decodes a WebP to the same pixels as Pillow with libwebp. If it is an animation, it decodes the
// first picture.
func rowsOfWebP(ctx context.Context, file []byte, visit eachPixels) error {
	switch first, err := animatedWebP(file); {
	case err != nil:
		return err
	case first != nil:
		return first.rows(ctx, visit)
	}
	img, err := webp.Decode(stream.NewFile(ctx, file))
	if err != nil {
		return err
	}
	switch m := img.(type) {
	case *image.YCbCr:
		return rowsOfVP8(ctx, m, visit)
	case *image.NYCbCrA:
		return rowsOfVP8(ctx, &m.YCbCr, visit)
	}
	return rowsOfImage(ctx, img, visit)
}

// rowsOfVP8 calls visit with each row of a lossy WebP. Its planes have 4:2:0 subsampling, and values in
// television's range, 16 to 235, not in JPEG's range. Smoothing and rounding are libwebp's
// (src/dsp/upsampling.c, yuv.h).
func rowsOfVP8(ctx context.Context, m *image.YCbCr, visit eachPixels) error {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	pixels := make([]byte, 3*w)
	chromaW, chromaH := (w+1)/2, (h+1)/2
	u, v := make([]byte, 2*chromaW), make([]byte, 2*chromaW)
	return eachRow(ctx, h, func(y int) {
		near, far := y/2*m.CStride, further(y, chromaH)*m.CStride
		smoothVP8(u, m.Cb[near:][:chromaW], m.Cb[far:][:chromaW])
		smoothVP8(v, m.Cr[near:][:chromaW], m.Cr[far:][:chromaW])
		rowVP8(pixels, m.Y[y*m.YStride:][:w], u, v)
		visit(y, pixels)
	})
}

// smoothVP8 computes a row of the picture, twice as long, from the two nearest rows of a plane. The weights
// are 9/16, 3/16, 3/16 and 1/16, and the result is rounded as in libwebp's UPSAMPLE_FUNC.
func smoothVP8(dst, near, far []byte) {
	last := len(near) - 1
	dst[0] = byte((3*int(near[0]) + int(far[0]) + 2) >> 2)
	dst[2*last+1] = byte((3*int(near[last]) + int(far[last]) + 2) >> 2)
	for x := range last {
		n0, n1, f0, f1 := int(near[x]), int(near[x+1]), int(far[x]), int(far[x+1])
		sum := n0 + n1 + f0 + f1 + 8
		dst[2*x+1] = byte(((sum+2*(n1+f0))>>3 + n0) >> 1)
		dst[2*x+2] = byte(((sum+2*(n0+f1))>>3 + n1) >> 1)
	}
}

// rowVP8 converts a row of pixels from YUV (ITU-R 601, limited range) to RGB
// with the 14 fractional bits and the rounding of VP8YuvToRgb.
func rowVP8(dst, luma, u, v []byte) {
	u, v = u[:len(luma)], v[:len(luma)]
	for x, l := range luma {
		y, b, r := int32(l)*19077>>8, int32(u[x]), int32(v[x])
		pixel := dst[3*x : 3*x+3 : 3*x+3]
		pixel[0] = clamped((y + r*26149>>8 - 14234) >> 6)
		pixel[1] = clamped((y - b*6419>>8 - r*13320>>8 + 8708) >> 6)
		pixel[2] = clamped((y + b*33050>>8 - 17685) >> 6)
	}
}
