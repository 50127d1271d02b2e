package main

import (
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// squares implements the command "squares DIR". It writes six pictures DIR/img/I.ppm of 32 x 32 pixels, a
// light square on a dark ground, and their masks DIR/msk/I.gif with index 1 in the square and 0 elsewhere.
func squares(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	for i := range 6 {
		picture, mask := []byte("P6 32 32 255\n"), image.NewPaletted(image.Rect(0, 0, 32, 32),
			color.Palette{color.RGBA{0, 0, 0, 255}, color.RGBA{255, 0, 0, 255}})
		for at := range mask.Pix {
			x, y, grey := at%32-4*i, at/32-3*i, byte(40)
			if 0 <= x && x < 12 && 0 <= y && y < 12 {
				mask.Pix[at], grey = 1, 220
			}
			picture = append(picture, grey, grey, grey)
		}
		for name, write := range map[string]func(f *os.File) error{
			"img/%d.ppm": func(f *os.File) error { _, err := f.Write(picture); return err },
			"msk/%d.gif": func(f *os.File) error { return gif.Encode(f, mask, nil) },
		} {
			path := filepath.Join(dir, fmt.Sprintf(name, i))
			ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
			f, err := os.Create(path)
			ts.Check(err)
			ts.Check(write(f))
			ts.Check(f.Close())
		}
	}
}

// numbersFile implements the command "numbers FILE X...". It writes an .npy file with one sample, which has
// the numbers X.
func numbersFile(ts *testscript.TestScript, _ bool, args []string) {
	x := tensor.New(tensor.F32, 1, len(args)-1)
	for i, text := range args[1:] {
		_, err := fmt.Sscan(text, &x.F32()[i])
		ts.Check(err)
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(data.WriteNPY(f, x))
	ts.Check(f.Close())
}
