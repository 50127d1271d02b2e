package node

// Span is a range of an axis: the count elements begin, begin+step, ... before end. If the step is
// negative, end may be -1.
type Span struct{ Begin, End, Step, Count int }

// Spans reads the ranges of a Slice of a shape. axes maps an axis of ONNX to an axis of the shape.
func (c *Node) Spans(shape []int, axes func(int64) int) []Span {
	out := make([]Span, len(shape))
	for a, n := range shape {
		out[a] = Span{0, n, 1, n}
	}
	starts, _ := c.List("starts", 1)
	ends, _ := c.List("ends", 2)
	along, named := c.List("axes", 3)
	steps, stepped := c.List("steps", 4)
	if len(starts) != len(ends) || named && len(along) != len(starts) || stepped &&
		len(steps) != len(starts) {
		c.Fail("has %d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(along), len(steps))
	}
	for i := 0; i < len(starts) && c.Err == nil; i++ {
		at, step := int64(i), int64(1)
		if named {
			at = along[i]
		}
		if stepped {
			step = steps[i]
		}
		if a := axes(at); c.Err == nil {
			out[a] = c.span(starts[i], ends[i], step, shape[a])
		}
	}
	return out
}

// span clips a range to an axis of n elements, like Python.
func (c *Node) span(start, end, step int64, n int) Span {
	start, end = c.Concrete(start), c.Concrete(end)
	step = min(max(step, -1<<30), 1<<30) // no axis is longer
	if step == 0 {
		c.Fail("a step of 0")
		return Span{Step: 1}
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
	s := Span{Begin: clip(start), End: clip(end), Step: int(step)}
	if step < 0 {
		s.End = min(s.Begin, s.End)
		s.Count = (s.Begin - s.End - s.Step - 1) / -s.Step
		return s
	}
	s.End = max(s.Begin, s.End)
	s.Count = (s.End - s.Begin + s.Step - 1) / s.Step
	return s
}

// Indices returns the indices of the elements of a span.
func (s Span) Indices() []int {
	at := make([]int, s.Count)
	for i := range at {
		at[i] = s.Begin + i*s.Step
	}
	return at
}
