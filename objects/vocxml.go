package objects

import (
	"math"
	"strconv"
	"strings"
)

// vocAnnotation is the content of one XML file.
type vocAnnotation struct {
	width, height int // 0 if the file does not contain them
	sizeLine      int
	objects       []Object
	names         []string // name of the class of each object
}

// parseVOC reads one annotation file. It adds a fault for each broken object.
func (f *faults) parseVOC(file string, b []byte) (a vocAnnotation) {
	root, line, err := parseXML(b)
	if err != nil {
		f.add(file, line, "write the file again, in UTF-8", "the XML is broken: %v", err)
		return a
	}
	if root.name != "annotation" {
		f.add(file, root.line, "write VOC's XML, or take the file away",
			"the root element is <%s>, want <annotation>",
			root.name)
		return a
	}
	f.vocSize(file, root.child("size"), &a)
	for _, e := range root.children {
		if e.name == "object" {
			f.vocObject(file, e, &a)
		}
	}
	return a
}

// vocSize reads the size of the picture. Some tools write 0 for an unknown size.
func (f *faults) vocSize(file string, e *element, a *vocAnnotation) {
	if e == nil {
		return
	}
	a.sizeLine = e.line
	for name, side := range map[string]*int{"width": &a.width, "height": &a.height} {
		text := e.value(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1<<24 {
			f.add(file, e.line, "write the picture's size in pixels", "the %s of the picture is %s", name, quote(text))
		}
		*side = n
	}
	if a.width <= 0 || a.height <= 0 {
		a.width, a.height = 0, 0
	}
}

// vocObject reads an object with its box.
func (f *faults) vocObject(file string, e *element, a *vocAnnotation) {
	name := e.value("name")
	if name == "" {
		f.add(file, e.line, "write the name of its class", "the object has no name")
		return
	}
	box, ok := f.vocBox(file, name, e)
	if !ok {
		return
	}
	o := Object{Box: box, Area: box.Area(), line: e.line}
	switch text := strings.ToLower(e.value("difficult")); text {
	case "", "0", "false", "unspecified":
	case "1", "true":
		o.Difficult = true
	default:
		f.add(file, e.child("difficult").line, "write 0 or 1", "difficult is %s", quote(text))
		return
	}
	a.objects, a.names = append(a.objects, o), append(a.names, name)
}

// vocBox reads the only box of an object.
func (f *faults) vocBox(file, name string, e *element) (box Box, ok bool) {
	bounds := e.child("bndbox")
	count := 0
	for _, c := range e.children {
		if c.name == "bndbox" {
			count++
		}
	}
	switch {
	case count > 1:
		f.add(file, e.line, "write an object for each box", "object %s has %d boxes", quote(name), count)
		return box, false
	case count == 1:
		return f.vocCorners(file, name, bounds)
	case e.child("robndbox") != nil:
		f.add(file, e.child("robndbox").line, "write an upright bndbox around it",
			"object %s has a rotated box, which is not supported", quote(name))
	case e.child("polygon") != nil:
		f.add(file, e.child("polygon").line, "write a bndbox around it", "object %s has a polygon and no box",
			quote(name))
	default:
		f.add(file, e.line, "write a bndbox, or remove the object", "object %s has no box", quote(name))
	}
	return box, false
}

// vocCorners reads xmin, ymin, xmax and ymax, which count from 1 and are inclusive.
func (f *faults) vocCorners(file, name string, e *element) (box Box, ok bool) {
	var corners [4]float64
	for i, side := range []string{"xmin", "ymin", "xmax", "ymax"} {
		text := e.value(side)
		v, err := strconv.ParseFloat(text, 64)
		if text == "" {
			f.add(file, e.line, "write all four corners", "object %s has no %s", quote(name), side)
			return box, false
		}
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1<<24 {
			f.add(file, e.child(side).line, "write a number of pixels", "object %s: %s is %s", quote(name), side,
				quote(text))
			return box, false
		}
		corners[i] = v
	}
	switch c := corners; {
	case c[2] < c[0]:
		f.add(file, e.line, "swap them", "object %s: xmax %v is less than xmin %v", quote(name), c[2], c[0])
	case c[3] < c[1]:
		f.add(file, e.line, "swap them", "object %s: ymax %v is less than ymin %v", quote(name), c[3], c[1])
	case isNormalised(c[:]...):
		f.add(file, e.line, "multiply them by the picture's size",
			"object %s: %v are fractions of the picture; VOC's corners are pixels", quote(name), c)
	default:
		return Box{c[0] - 1, c[1] - 1, c[2], c[3]}, true
	}
	return box, false
}

// quote returns a text from a file in a shortened form, for a message.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strconv.Quote(text)
}
