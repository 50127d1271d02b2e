// Pictures draws the pictures of docs/tutorial.md: discs, squares and triangles. It writes them to files
// PATH/PART/CLASS/NUMBER.png, a layout that bnctl and other programs read. Every run draws the same pictures.
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
)

const side = 32 // pixels

// inside has a function for each class that reports whether a point belongs to the shape. Within the shape's
// square, x and y are from -1 to 1.
var inside = map[string]func(x, y float64) bool{
	"disc":     func(x, y float64) bool { return x*x+y*y < 1 },
	"square":   func(x, y float64) bool { return max(x*x, y*y) < 0.72 },
	"triangle": func(x, y float64) bool { return y < 0.8 && 2*max(x, -x) < y+1 },
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./docs/examples/pictures FOLDER")
		os.Exit(2)
	}
	if err := draw(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// draw writes all pictures into a folder.
func draw(folder string) error {
	random := rand.New(rand.NewPCG(1, 2))
	for _, section := range []struct {
		name  string
		count int
	}{{"train", 300}, {"val", 60}, {"test", 60}} {
		for _, class := range []string{"disc", "square", "triangle"} {
			dir := filepath.Join(folder, section.name, class)
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			for i := range section.count {
				name := filepath.Join(dir, fmt.Sprintf("%03d.png", i))
				if err := write(name, picture(random, inside[class])); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// picture draws a shape at a random place, in a random size and random colours, and adds noise.
func picture(random *rand.Rand, in func(x, y float64) bool) image.Image {
	size := 8 + 5*random.Float64()
	cx, cy := size+random.Float64()*(side-2*size), size+random.Float64()*(side-2*size)
	var front, back [3]float64
	for c := range front {
		back[c] = 90 + 70*random.Float64()
		front[c] = back[c] + []float64{-80, 80}[random.IntN(2)]
	}
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			p := back
			if in((float64(x)-cx)/size, (float64(y)-cy)/size) {
				p = front
			}
			for c := range p {
				p[c] = min(max(p[c]+12*random.NormFloat64(), 0), 255)
			}
			m.Set(x, y, color.RGBA{uint8(p[0]), uint8(p[1]), uint8(p[2]), 255})
		}
	}
	return m
}

func write(name string, m image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := png.Encode(f, m); err != nil {
		return err
	}
	return f.Close()
}
