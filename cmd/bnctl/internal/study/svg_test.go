package study

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// box is the approximate area of the letters of a text. y grows downwards.
type box struct {
	text                     string
	left, right, top, bottom float64
}

func (b box) holds(p [2]float64) bool {
	return p[0] > b.left && p[0] < b.right && p[1] > b.top && p[1] < b.bottom
}

// picture has the texts of an SVG file, the ends of the lines of its paths, and the centres of its circles.
type picture struct {
	width, height float64
	texts         []box
	points        [][2]float64
}

var (
	number = regexp.MustCompile(`-?[0-9.]+`)
	stroke = regexp.MustCompile(`[MLHVhvz][^MLHVhvz]*`)
)

func numbers(text string) (out []float64) {
	for _, s := range number.FindAllString(text, -1) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(err)
		}
		out = append(out, v)
	}
	return out
}

// read reads an SVG file of package chart, where groups may be moved, but nothing is turned.
func read(t *testing.T, svg []byte) picture {
	t.Helper()
	var out picture
	at, text := [][2]float64{{}}, false
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			a := map[string]string{}
			for _, x := range e.Attr {
				a[x.Name.Local] = x.Value
			}
			p := at[len(at)-1]
			if v := numbers(a["transform"]); len(v) == 2 {
				p = [2]float64{p[0] + v[0], p[1] + v[1]}
			}
			at = append(at, p)
			if text = e.Name.Local == "text"; text {
				out.texts = append(out.texts, boxOf(a, p))
			}
			out.element(e.Name.Local, a, p)
		case xml.CharData:
			if text {
				out.texts[len(out.texts)-1].say(string(e))
			}
		case xml.EndElement:
			at, text = at[:len(at)-1], false
		}
	}
}

// boxOf returns the box of a text before its letters are known. left is the anchor of the text. right states
// where the anchor is: 0 at the beginning of the text, -1 in the middle, and -2 at the end.
func boxOf(a map[string]string, p [2]float64) box {
	const capital = 0.72 * 12 // height of a capital letter
	v := numbers(a["x"] + " " + a["y"])
	b := box{left: p[0] + v[0], top: p[1] + v[1] - capital, bottom: p[1] + v[1]}
	switch a["text-anchor"] {
	case "middle":
		b.right = -1
	case "end":
		b.right = -2
	}
	return b
}

// say sets the width of a box to a text's width. It uses the same widths of letters as package chart.
func (b *box) say(text string) {
	width := 6.8 * float64(len([]rune(text)))
	switch b.right {
	case -1:
		b.left -= width / 2
	case -2:
		b.left -= width
	}
	b.text, b.right = text, b.left+width
}

func (d *picture) element(name string, a map[string]string, p [2]float64) {
	add := func(x, y float64) { d.points = append(d.points, [2]float64{p[0] + x, p[1] + y}) }
	switch name {
	case "svg":
		v := numbers(a["viewBox"])
		d.width, d.height = v[2], v[3]
	case "circle":
		add(numbers(a["cx"])[0], numbers(a["cy"])[0])
	case "path":
		if strings.Contains(a["class"], "rule") {
			return // drawn under the letters
		}
		x, y := 0.0, 0.0
		for _, s := range stroke.FindAllString(a["d"], -1) {
			v := numbers(s)
			switch s[0] {
			case 'M', 'L':
				x, y = v[0], v[1]
			case 'H':
				x = v[0]
			case 'V':
				y = v[0]
			case 'h':
				x += v[0]
			case 'v':
				y += v[0]
			}
			add(x, y)
		}
	}
}
