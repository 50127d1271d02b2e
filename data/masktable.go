package data

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// maxTableBytes is the largest size of a table of masks. It is enough for 256 lines with names.
const maxTableBytes = 1 << 16

// voids are names, in lower case, that mean that a pixel has no class.
var voids = []string{"void", "ignore", "ignored", "unlabelled", "unlabeled"}

// readMaskTable reads a table of masks. It has a line for each class, with the value of its pixels, or their
// red, green and blue, and its name. The classes are numbered in the order of the lines. A name in voids
// means no class. Empty lines and lines that begin with # are ignored.
func readMaskTable(path string) (*maskCode, error) {
	text, err := regular.Read(path, maxTableBytes)
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	c := &maskCode{}
	c.clear()
	columns, number := 0, 0
	for line := range strings.Lines(string(text)) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if columns == 0 {
			columns = tableColumns(words)
		}
		if err := c.tableLine(words, columns); err != nil {
			return nil, fmt.Errorf("table %s, line %d: %w", path, number, err)
		}
	}
	if len(c.names) < 2 || len(c.names) > MaskClasses {
		return nil, fmt.Errorf("table %s: %s; want 2 to %d", path,
			problem.Plural(len(c.names), "class"), MaskClasses)
	}
	return c, nil
}

// tableColumns returns 3 if the lines of a table have colours, or 1 if they have values. words are the words
// of the first line.
func tableColumns(words []string) int {
	for i := range 3 {
		if len(words) < 4 {
			return 1
		}
		if _, err := colourByte(words[i]); err != nil {
			return 1
		}
	}
	return 3
}

func colourByte(word string) (byte, error) {
	v, err := strconv.ParseUint(word, 10, 8)
	return byte(v), err
}

// tableLine adds the class of one line.
func (c *maskCode) tableLine(words []string, columns int) error {
	form := map[int]string{1: "NUMBER NAME", 3: "RED GREEN BLUE NAME"}[columns]
	var v [3]byte
	for i, word := range words[:min(columns, len(words))] {
		var err error
		if v[i], err = colourByte(word); err != nil {
			return fmt.Errorf("%q is no number from 0 to 255; want %s", word, form)
		}
	}
	if len(words) <= columns {
		return fmt.Errorf("want %s", form)
	}
	name, class := strings.Join(words[columns:], " "), int16(noClass)
	if !slices.Contains(voids, strings.ToLower(name)) {
		if class = int16(len(c.names)); slices.Contains(c.names, name) {
			return fmt.Errorf("a second class %s", name)
		}
		c.names = append(c.names, name)
	}
	if columns == 1 {
		if old := c.values[v[0]]; old != unknown && !(old == noClass && v[0] == augmentation.Ignored) {
			return fmt.Errorf("%d stands there twice", v[0])
		}
		c.values[v[0]] = class
		return nil
	}
	if c.colours == nil {
		c.colours = map[[3]byte]int16{}
	}
	if _, ok := c.colours[v]; ok {
		return fmt.Errorf("the colour %d %d %d stands there twice", v[0], v[1], v[2])
	}
	c.colours[v] = class
	return nil
}
