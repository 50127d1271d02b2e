package onnx

// span is a range of an axis: begin, begin+step, ... before end, of count elements.
// A negative step goes backwards; end may be -1 then.
type span struct{ begin, end, step, count int }

// spans reads the ranges of a Slice over a shape; axes maps an axis of ONNX to one of the shape.
func (c *Node) spans(shape []int, axes func(int64) int) []span {
	out := make([]span, len(shape))
	for a, n := range shape {
		out[a] = span{0, n, 1, n}
	}
	starts, _ := c.list("starts", 1)
	ends, _ := c.list("ends", 2)
	along, named := c.list("axes", 3)
	steps, stepped := c.list("steps", 4)
	if len(starts) != len(ends) || named && len(along) != len(starts) || stepped &&
		len(steps) != len(starts) {
		c.fail("has %d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(along), len(steps))
	}
	for i := 0; i < len(starts) && c.err == nil; i++ {
		at, step := int64(i), int64(1)
		if named {
			at = along[i]
		}
		if stepped {
			step = steps[i]
		}
		if a := axes(at); c.err == nil {
			out[a] = c.span(starts[i], ends[i], step, shape[a])
		}
	}
	return out
}

// span clips a range to an axis of n elements as Python does.
func (c *Node) span(start, end, step int64, n int) span {
	start, end = c.concrete(start), c.concrete(end)
	step = min(max(step, -1<<30), 1<<30) // no axis is longer
	if step == 0 {
		c.fail("a step of 0")
		return span{step: 1}
	}
	least, most := int64(0), int64(n)
	if step < 0 {
		least, most = -1, int64(n)-1
	}
	clip := func(i int64) int {
		if i < 0 {
			i += int64(n)
		}
		return int(min(max(i, least), most))
	}
	s := span{begin: clip(start), end: clip(end), step: int(step)}
	if step < 0 {
		s.end = min(s.begin, s.end)
		s.count = (s.begin - s.end - s.step - 1) / -s.step
		return s
	}
	s.end = max(s.begin, s.end)
	s.count = (s.end - s.begin + s.step - 1) / s.step
	return s
}

// indices returns the indices of the elements of a span.
func (s span) indices() []int {
	at := make([]int, s.count)
	for i := range at {
		at[i] = s.begin + i*s.step
	}
	return at
}
