package study

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// affine is a transform of SVG: x' = a*x + c*y + e, y' = b*x + d*y + f.
type affine struct{ a, b, c, d, e, f float64 }

func (m affine) at(x, y float64) [2]float64 {
	return [2]float64{m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f}
}

// then returns the transform of an element with n within one with m.
func (m affine) then(n affine) affine {
	o := m.at(n.e, n.f)
	return affine{m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b, m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d, o[0], o[1]}
}

var (
	step     = regexp.MustCompile(`(\w+)\(([^)]*)\)`)
	number   = regexp.MustCompile(`-?[0-9.]+(e-?[0-9]+)?`)
	piece    = regexp.MustCompile(`[MLA][^MLAZ]*`)
	fontSize = regexp.MustCompile(`font-size:([0-9.]+)px`)
)

func numbers(text string) []float64 {
	var out []float64
	for _, s := range number.FindAllString(text, -1) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(err)
		}
		out = append(out, v)
	}
	return out
}

func transformOf(t *testing.T, text string) affine {
	m := affine{a: 1, d: 1}
	for _, s := range step.FindAllStringSubmatch(text, -1) {
		v := append(numbers(s[2]), 0)
		switch s[1] {
		case "scale":
			m = m.then(affine{a: v[0], d: v[1]})
		case "translate":
			m = m.then(affine{a: 1, d: 1, e: v[0], f: v[1]})
		case "rotate":
			sin, cos := math.Sincos(v[0] * math.Pi / 180)
			m = m.then(affine{a: cos, b: sin, c: -sin, d: cos})
		default:
			t.Fatalf("transform %s", s[0])
		}
	}
	return m
}

// box is where the capital letters of a text lie; y grows downwards.
type box struct {
	text                     string
	left, right, top, bottom float64
}

func (b box) holds(p [2]float64) bool {
	return p[0] > b.left && p[0] < b.right && p[1] > b.top && p[1] < b.bottom
}

// drawing is the texts of an SVG and the ends of the lines and arcs of its paths.
type drawing struct {
	width, height float64
	texts         []box
	points        [][2]float64
}

func read(t *testing.T, svg []byte) drawing {
	var out drawing
	stack := []affine{{a: 1, d: 1}}
	d := xml.NewDecoder(bytes.NewReader(svg))
	inText := false
	for {
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
			m := stack[len(stack)-1].then(transformOf(t, a["transform"]))
			stack = append(stack, m)
			inText = e.Name.Local == "text"
			out.element(e.Name.Local, a, m)
		case xml.CharData:
			if inText {
				out.texts[len(out.texts)-1].text += string(e)
			}
		case xml.EndElement:
			stack, inText = stack[:len(stack)-1], false
		}
	}
}

func (d *drawing) element(name string, a map[string]string, m affine) {
	switch name {
	case "svg":
		v := numbers(a["viewBox"])
		d.width, d.height = v[2], v[3]
	case "path":
		for _, s := range piece.FindAllString(a["d"], -1) {
			v := numbers(s)
			d.points = append(d.points, m.at(v[len(v)-2], v[len(v)-1]))
		}
	case "text":
		const capital = 0.72 // height of a capital letter, of the font's size
		v := numbers(strings.Join([]string{a["x"], a["y"], a["textLength"]}, " "))
		size := numbers(fontSize.FindStringSubmatch(a["style"])[1])[0]
		p, q := m.at(v[0], v[1]), m.at(v[0]+v[2], v[1]-capital*size)
		d.texts = append(d.texts, box{"", min(p[0], q[0]), max(p[0], q[0]), min(p[1], q[1]), max(p[1], q[1])})
	}
}
