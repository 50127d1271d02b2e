package data

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// MaskOptions define which class each value of a pixel in a mask means. By default a value is the number of
// the class, and pixels with the value 255 are ignored.
type MaskOptions struct {
	Values string // values of the classes 0, 1, ... in order: "0,255"; "": a value is the number of its class
	Ignore string // values of ignored pixels; "": 255, unless 255 is a class
}

// idle returns an error if options are set although the source has no masks, or has masks with a fixed
// meaning.
func (o MaskOptions) idle(kind string) error {
	if o.Values != "" {
		return problem.New("mask-values", o.Values, "it is for masks:IMAGES,MASKS, not for "+kind, "")
	}
	return problem.New("ignore", o.Ignore, "it is for masks:IMAGES,MASKS, not for "+kind, "")
}

// Results for the value of a pixel that is not a class.
const (
	noClass = -1 // the pixel is ignored
	unknown = -2
)

// maskCode has the class of each value that a pixel of a mask may have.
type maskCode struct {
	values  [256]int16        // class by value
	colours map[[3]byte]int16 // class by colour, in place of values; may be nil
	names   []string          // names of the classes; nil: found in the masks
}

// newMaskCode returns the code that the options define. It is used without a table.
func newMaskCode(o MaskOptions) (*maskCode, error) {
	c := &maskCode{}
	for v := range c.values {
		c.values[v] = int16(v)
	}
	if o.Values != "" {
		values, err := maskValues("mask-values", o.Values)
		if err != nil {
			return nil, err
		}
		if len(values) < 2 {
			return nil, problem.New("mask-values", o.Values, "that is one class", "want the values of two or more")
		}
		c.clear()
		for class, v := range values {
			c.values[v], c.names = int16(class), append(c.names, strconv.Itoa(v))
		}
	}
	return c, c.ignore(o)
}

// clear makes all values unknown, except 255, which becomes noClass.
func (c *maskCode) clear() {
	for v := range c.values {
		c.values[v] = unknown
	}
	c.values[augmentation.Ignored] = noClass
}

// ignore makes the ignored values of the options noClass.
func (c *maskCode) ignore(o MaskOptions) error {
	if o.Ignore == "" {
		if c.names == nil {
			c.values[augmentation.Ignored] = noClass
		}
		return nil
	}
	values, err := maskValues("ignore", o.Ignore)
	if err != nil {
		return err
	}
	if c.names == nil {
		c.values[augmentation.Ignored] = unknown
	}
	for _, v := range values {
		if c.names != nil && c.values[v] >= 0 {
			return problem.New("ignore", o.Ignore, fmt.Sprintf("%d is a class of {mask-values} %s", v, o.Values), "")
		}
		c.values[v] = noClass
	}
	return nil
}

// maskValues reads a list of different byte values, separated by commas.
func maskValues(field, text string) (values []int, err error) {
	seen := map[int]bool{}
	for item := range strings.SplitSeq(text, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || v < 0 || v > 255 || seen[v] {
			return nil, problem.New(field, strconv.Quote(text), "want different numbers from 0 to 255, as 0,255", "")
		}
		seen[v], values = true, append(values, v)
	}
	return values, nil
}

// classOfValue returns the class of a value, or noClass.
func (c *maskCode) classOfValue(v byte) (int16, error) {
	class := c.values[v]
	switch {
	case class != unknown:
		return class, nil
	case c.names == nil:
		return 0, fmt.Errorf("is %d: at most %d classes, 0 to %d, can be told apart", v, MaskClasses, MaskClasses-1)
	}
	return 0, fmt.Errorf("is %d, which is no class: those are %s", v, c.classValues())
}

// classOfColour returns the class of a colour, or noClass.
func (c *maskCode) classOfColour(rgb [3]byte) (int16, error) {
	class, ok := c.colours[rgb]
	if !ok {
		return 0, fmt.Errorf("has the colour %d %d %d, which the table lacks", rgb[0], rgb[1], rgb[2])
	}
	return class, nil
}

// classValues lists the values that mean classes: "0, 1, 7".
func (c *maskCode) classValues() string {
	var texts []string
	for v, class := range c.values {
		if class >= 0 {
			texts = append(texts, strconv.Itoa(v))
		}
	}
	return names.First(texts)
}
