package keras

import (
	"fmt"
	"strconv"
	"strings"
)

// major returns the first number of Keras's version; 2 if the file has no version.
func (c *content) major() int {
	first, _, _ := strings.Cut(c.version, ".")
	if n, err := strconv.Atoi(first); err == nil {
		return n
	}
	return 2
}

// theano reports whether kernels are for a true convolution. Keras 1 does not store its
// backend: the file is from TensorFlow if a variable has a name like "name:0".
func (c *content) theano() bool {
	if c.backend != "" || c.major() > 1 {
		return c.backend == "theano"
	}
	for _, g := range c.groups {
		for _, a := range g.arrays {
			if strings.HasSuffix(a.name, ":0") {
				return false
			}
		}
	}
	return true
}

// oldResize reports whether bilinear interpolation is that of TensorFlow 1. It is in all
// versions of Keras before 2.4, except for the Keras inside TensorFlow 2.
func (c *content) oldResize() bool {
	var major, minor int
	if _, err := fmt.Sscanf(c.version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return (major < 2 || major == 2 && minor < 4) && !strings.HasSuffix(c.version, "-tf")
}
