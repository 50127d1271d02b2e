package fold

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
)

// These functions compute with N, the length of the batch, which is at least 1. The result must be
// a multiple of N, or the same for all N.

func addIntegers(c *node.Node, a, b int64) int64 {
	m, left := element.TimesBatch(a)
	n, right := element.TimesBatch(b)
	switch {
	case left && right && m+n <= element.MaxTimes:
		return element.BatchTimes(m + n)
	case left && b == 0:
		return a
	case right && a == 0:
		return b
	}
	return c.Concrete(a) + c.Concrete(b)
}

func subtractIntegers(c *node.Node, a, b int64) int64 {
	m, left := element.TimesBatch(a)
	n, right := element.TimesBatch(b)
	switch {
	case left && right && m > n:
		return element.BatchTimes(m - n)
	case left && right && m == n:
		return 0
	case left && b == 0:
		return a
	}
	return c.Concrete(a) - c.Concrete(b)
}

func multiplyIntegers(c *node.Node, a, b int64) int64 {
	if _, ok := element.TimesBatch(b); ok {
		a, b = b, a
	}
	if m, ok := element.TimesBatch(a); ok && b == 0 {
		return 0
	} else if ok && b > 0 && b <= element.MaxTimes/m {
		return element.BatchTimes(m * b)
	}
	return c.Concrete(a) * c.Concrete(b)
}

func divideIntegers(c *node.Node, a, b int64) int64 {
	m, left := element.TimesBatch(a)
	n, right := element.TimesBatch(b)
	switch {
	case left && right && m%n == 0:
		return m / n
	case left && !right && b > 0 && m%b == 0:
		return element.BatchTimes(m / b)
	}
	if a, b = c.Concrete(a), c.Concrete(b); b == 0 {
		c.Fail("divides by zero")
		return 0
	}
	return a / b
}

// compareIntegers returns the order of two numbers: -1, 0 or 1.
func compareIntegers(c *node.Node, a, b int64) int {
	m, left := element.TimesBatch(a)
	n, right := element.TimesBatch(b)
	switch {
	case left && right:
		return order(m, n)
	case left && b < m:
		return 1
	case right && a < n:
		return -1
	}
	return order(c.Concrete(a), c.Concrete(b))
}

func largerInteger(c *node.Node, a, b int64) int64 {
	if m, ok := element.TimesBatch(a); ok && b == m {
		return a
	}
	if n, ok := element.TimesBatch(b); ok && a == n {
		return b
	}
	if compareIntegers(c, a, b) < 0 {
		return b
	}
	return a
}

func smallerInteger(c *node.Node, a, b int64) int64 {
	if m, ok := element.TimesBatch(a); ok && b == m {
		return b
	}
	if n, ok := element.TimesBatch(b); ok && a == n {
		return a
	}
	if compareIntegers(c, a, b) > 0 {
		return b
	}
	return a
}
