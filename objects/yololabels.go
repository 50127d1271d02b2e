package objects

import (
	"math"
	"strconv"
	"strings"
)

// roundingError is the largest excess of a fraction over 1 that is not a fault: labels are
// rounded to six decimals.
const roundingError = 1e-5

// parseYOLO reads the labels of a picture of width x height pixels. Each line has a class, the centre of a
// box, its width and its height.
func (f *faults) parseYOLO(file, text string, classes, width, height int) (list []Object) {
	line := 0
	for row := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line++
		fields := strings.Fields(row)
		if len(fields) == 0 {
			continue
		}
		if !f.yoloFields(file, line, len(fields)) {
			continue
		}
		class, ok := f.yoloClass(file, line, fields[0], classes)
		if !ok {
			continue
		}
		if box, ok := f.yoloBox(file, line, fields[1:], width, height); ok {
			list = append(list, Object{Box: box, Class: class, Area: box.Area(), line: line})
		}
	}
	return list
}

// yoloFields adds a fault if a line has another number of fields than a box needs.
func (f *faults) yoloFields(file string, line, n int) bool {
	switch {
	case n == 5:
		return true
	case n == 6:
		f.add(file, line, "remove the confidence", "6 fields, want 5: these seem to be detections")
	case n == 9:
		f.add(file, line, "write upright boxes",
			"9 fields, want 5: a rotated box or a polygon, which is not supported")
	case n > 6 && n%2 == 1:
		f.add(file, line, "write the box around it", "%d fields, want 5: a polygon and no box", n)
	default:
		f.add(file, line, "write class, centre x, centre y, width and height", "%d fields, want 5", n)
	}
	return false
}

func (f *faults) yoloClass(file string, line int, text string, classes int) (class int, ok bool) {
	class, err := strconv.Atoi(text)
	switch {
	case err != nil:
		f.add(file, line, "write the index of the class, from 0", "the class is %s", quote(text))
	case class < 0 || class >= classes:
		f.add(file, line, "add its name to data.yaml, or correct it",
			"class %d: there are 0 to %d", class, classes-1)
	default:
		return class, true
	}
	return 0, false
}

// yoloBox converts the fractions of a line to a box in pixels.
func (f *faults) yoloBox(file string, line int, fields []string, width, height int) (box Box, ok bool) {
	var v [4]float64
	for i, name := range []string{"centre x", "centre y", "width", "height"} {
		number, err := strconv.ParseFloat(fields[i], 64)
		switch {
		case err != nil || math.IsNaN(number):
			f.add(file, line, "write a number", "the %s is %s", name, quote(fields[i]))
			return box, false
		case number > 1+roundingError:
			f.add(file, line, "divide it by the picture's size",
				"the %s is %v; YOLO has fractions of the picture, and these seem to be pixels", name, number)
			return box, false
		case i >= 2 && number < 0:
			f.add(file, line, "write centre x, centre y, width and height", "the %s is %v", name, number)
			return box, false
		case number < -1:
			f.add(file, line, "write a fraction", "the %s is %v, far out of the picture", name, number)
			return box, false
		}
		v[i] = number
	}
	w, h := float64(width), float64(height)
	x, y := float64(v[2]/2), float64(v[3]/2)
	return Box{(v[0] - x) * w, (v[1] - y) * h, (v[0] + x) * w, (v[1] + y) * h}, true
}
