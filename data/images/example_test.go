package images_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/bnctl/bnctl/data/images"
)

// Example decodes a picture and scales its middle to one pixel.
func Example() {
	picture := image.NewRGBA(image.Rect(0, 0, 4, 2))
	picture.Set(0, 0, color.RGBA{250, 120, 60, 255})
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		fmt.Println(err)
		return
	}
	pixels, err := images.Decode(context.Background(), file.Bytes(), true)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pixels.Shape, pixels.Bytes[:3])
	src, dst := images.Plane{H: 2, W: 4, C: 3, Pix: pixels.Bytes}, images.NewPlane(1, 1, 3)
	images.Scaling{}.Fit(dst, src)
	fmt.Println(dst.Pix)
	// Output:
	// [2 4 3] [250 120 60]
	// [54 26 13]
}
