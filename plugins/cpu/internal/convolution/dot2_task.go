package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// A task interleaves lines of images until the cache is full (together), and then adds their
// products for every tap. A segment is some lines of one image. Interleaved segments are
// stored as
//
// 	halves   | x of segment 0 | dy of segment 0 | x of segment 1 | dy of segment 1 | ...

// dot2Task computes gradients of a group's weights: for the panel that begins at output channel
// first, and for the values [k0, k1) that columns [j0, j1) of the kernel read. For each segment of
// images, it interleaves both operands, and then every tap adds the products of their pairs.
type dot2Task struct {
	k                            *dot2Gradient
	kernels                      *kernel.Set
	worker                       *run.Worker
	scratch                      *scratch
	group, first, k0, k1, j0, j1 int

	real, width     int               // number of channels, and the same in whole lanes
	inLine, dyLine  kernel.PairsLine  // lines of the operands
	input, gradient stored            // the values of all images
	value, channel  int               // first value and first channel of the task's operands in an image
	sums            []float32         // sums of a chunk, [rows][j1-j0][k1-k0][width]
	workspace       []float32         // memory for the sums of several chunks
	padding         stored            // workspace for the padded lines of a segment
	lines           int               // number of lines of the result in a segment
	end             int               // index after the last image
	next            kernel.Prefetcher // data that the task reads after its segments
	used            int               // number of values in the interleaved segments so far
}

// segment is lines [from, to) of the result in an image, which read lines [top, bottom) of
// the input. x and dy are the offsets of the interleaved lines of both.
type segment struct{ image, from, to, top, bottom, x, dy int }

// sum adds the products of images [from, to) of x and dy along the tree of chunks.
func (t *dot2Task) sum(x, dy stored, from, to int) {
	t.prepare(x, dy, to-from)
	t.end = to
	n := t.k.lines.rows * t.tapRow()
	t.sums = t.k.chunks.sum(t.kernels, t.workspace, n, from, to, func(sums []float32, from, to int) {
		t.sums = sums
		for image := from; image < to; image++ {
			t.image(image)
		}
		t.add()
	})
}

// prepare prepares the task for the given number of images of x and dy.
func (t *dot2Task) prepare(x, dy stored, images int) {
	t.scratch = scratchOf(t.worker)
	t.real = min(t.k.g.og-t.first, kernel.PanelLanes)
	t.width = wholeLanes(t.real)
	t.inLine = kernel.PairsLine{Offsets: t.k.lines.in, Lanes: wholeLanes(t.k1 - t.k0), Step: t.k.lines.inStep}
	t.dyLine = kernel.PairsLine{Offsets: t.k.lines.grad, Lanes: t.width, Step: t.k.lines.gradStep}
	t.input, t.gradient = x, dy
	t.value, t.channel = t.group*t.k.g.cg+t.k0, t.group*t.k.g.og+t.first
	t.scratch.segments, t.used = t.scratch.segments[:0], 0
	for t.lines = t.k.lines.count; t.lines > 1 && t.size(t.segment(0, 0, t.lines)) > t.k.interleaved; {
		t.lines = (t.lines + 1) / 2
	}
	size, workspace := t.k.lines.rows*t.tapRow()*t.k.chunks.blocks(images), 0
	if t.k.lines.padded {
		t.inLine.Step, t.value = t.k.lines.left+t.k.lines.inStep+t.k.lines.right, 0
		l := t.k.lines
		workspace = min((t.lines-1)*l.step+(l.rows-1)*l.rowStep+1, l.height)*t.inLine.Step + kernel.Lanes
	}
	all := t.worker.Floats(size + workspace)
	clear(all[size:])
	t.workspace, t.padding = all[:size], x.workspace(all[size:])
}

// wholeLanes rounds a number of values up to whole lanes.
func wholeLanes(n int) int { return (n + kernel.Lanes - 1) / kernel.Lanes * kernel.Lanes }

// tapRow returns the number of sums for a row of the kernel.
func (t *dot2Task) tapRow() int { return (t.j1 - t.j0) * (t.k1 - t.k0) * t.width }

// segment returns the segment with lines [from, to) of the result in an image.
func (t *dot2Task) segment(image, from, to int) segment {
	top := min(max(from*t.k.lines.step-t.k.lines.lead, 0), t.k.lines.height)
	bottom := min((to-1)*t.k.lines.step-t.k.lines.lead+(t.k.lines.rows-1)*t.k.lines.rowStep+1, t.k.lines.height)
	return segment{image: image, from: from, to: to, top: top, bottom: max(top, bottom)}
}

// size returns the number of values of an interleaved segment.
func (t *dot2Task) size(s segment) int {
	return (s.bottom-s.top)*t.inLine.Len() + (s.to-s.from)*t.dyLine.Len()
}

// image divides an image into segments and adds them to the list of segments.
func (t *dot2Task) image(image int) {
	for y := 0; y < t.k.lines.count; y += t.lines {
		s := t.segment(image, y, min(y+t.lines, t.k.lines.count))
		if t.used+t.size(s) > t.k.interleaved {
			t.add()
		}
		s.x, s.dy = t.used, t.used+(s.bottom-s.top)*t.inLine.Len()
		t.scratch.segments, t.used = append(t.scratch.segments, s), t.used+t.size(s)
	}
}

// add adds the products of all segments in the list to the sums, and clears the list.
func (t *dot2Task) add() {
	halves := t.worker.Halves(t.used)
	for _, s := range t.scratch.segments {
		t.interleave(halves, s)
	}
	t.lookAhead()
	if t.width == kernel.Lanes && t.k.lines.step == 1 && t.k.lines.rows > 1 {
		for _, s := range t.scratch.segments {
			t.shared(halves, s)
		}
	} else {
		for i := range t.k.lines.rows {
			t.single(halves, i)
		}
	}
	t.scratch.segments, t.used = t.scratch.segments[:0], 0
}

// lookAhead prefetches data that follows the segments in the list, with the same size as these segments.
func (t *dot2Task) lookAhead() {
	t.next.Clear()
	if len(t.scratch.segments) == 0 {
		return
	}
	first, last := t.scratch.segments[0], t.scratch.segments[len(t.scratch.segments)-1]
	from := first.image*t.k.x.Count + first.top*t.k.lines.inStep
	to := last.image*t.k.x.Count + last.bottom*t.k.lines.inStep
	run := t.k1 - t.k0
	if t.k.lines.padded {
		run = t.k.g.c
	}
	t.input.prefetch(&t.next, to+t.value, min(to+to-from, t.end*t.k.x.Count), run, t.k.g.c)
	from = first.image*t.k.dy.Count + first.from*t.k.lines.gradStep
	to = last.image*t.k.dy.Count + last.to*t.k.lines.gradStep
	t.gradient.prefetch(&t.next, to+t.channel, min(to+to-from, t.end*t.k.dy.Count), t.real, t.k.g.o)
}

// interleave interleaves both operands of a segment.
func (t *dot2Task) interleave(dst []uint16, s segment) {
	if s.top < s.bottom {
		in := t.input.slice(s.image*t.k.x.Count + s.top*t.k.lines.inStep + t.value)
		if t.k.lines.padded {
			in.copy(t.padding.slice(t.k.lines.left), t.k.lines.inStep, t.inLine.Step, s.bottom-s.top)
			in = t.padding.slice(t.k0)
		}
		in.interleave(t.kernels, t.inLine, dst[s.x:], s.bottom-s.top)
	}
	dy := t.gradient.slice(s.image*t.k.dy.Count + s.from*t.k.lines.gradStep + t.channel)
	dy.interleave(t.kernels, t.dyLine, dst[s.dy:], s.to-s.from)
}

// single adds the products of row i of the kernel with all segments in the list.
func (t *dot2Task) single(halves []uint16, i int) {
	rows := t.scratch.calls[:0]
	for _, s := range t.scratch.segments {
		for y := s.from; y < s.to; y++ {
			if h := y*t.k.lines.step - t.k.lines.lead + i*t.k.lines.rowStep; h >= s.top && h < s.bottom {
				rows = append(rows, t.rowsAt(s, h, y))
			}
		}
	}
	t.products(halves, rows, i, i)
	t.scratch.calls = rows
}

// shared adds the products of a segment. Several neighbouring rows of the kernel may read one line of the
// input, together with different lines of the result. It processes these rows at a time.
func (t *dot2Task) shared(halves []uint16, s segment) {
	rows, first, last := t.scratch.calls[:0], 0, -1
	for h := s.top; h < s.bottom; h++ {
		// Row i of the kernel reads line h of the input for line h+lead-i*apart of the result.
		low, high := 0, min(t.k.lines.rows-1, (h+t.k.lines.lead-s.from)/t.k.lines.rowStep)
		if below := h + t.k.lines.lead - s.to; below >= 0 {
			low = below/t.k.lines.rowStep + 1
		}
		if low > high {
			continue
		}
		if low != first || high != last {
			t.products(halves, rows, first, last)
			rows, first, last = rows[:0], low, high
		}
		rows = append(rows, t.rowsAt(s, h, h+t.k.lines.lead-high*t.k.lines.rowStep))
	}
	t.products(halves, rows, first, last)
	t.scratch.calls = rows
}

// rowsAt returns the offsets in bytes of line h of the input and line y of the result.
func (t *dot2Task) rowsAt(s segment, h, y int) [2]int32 {
	return [2]int32{int32(2 * (s.x + (h-s.top)*t.inLine.Len())), int32(2 * (s.dy + (y-s.from)*t.dyLine.Len()))}
}

// products adds the products of the given lines for rows first to last of the kernel.
func (t *dot2Task) products(halves []uint16, lines [][2]int32, first, last int) {
	if len(lines) == 0 {
		return
	}
	n := (t.k1 - t.k0) * t.width
	p := kernel.PairsRows{Run: t.k1 - t.k0, Width: t.width, Pairs: t.k.lines.pairs, Taps: last - first + 1,
		GradRow: t.k.lines.rowStep * t.dyLine.Len(), SumTap: t.tapRow()}
	for j := t.j0; j < t.j1; j++ {
		sums := t.sums[first*t.tapRow()+(j-t.j0)*n:]
		t.kernels.PairsGradient(p, sums, halves[2*t.k.lines.begin[j]*t.inLine.Lanes:], halves, lines, &t.next)
	}
}

// unpack writes the sums to the gradient of the whole weight.
func (t *dot2Task) unpack(dw []float32) {
	t.kernels.Scatter(dw[(t.group*t.k.g.og+t.first)*t.k.atStep:], t.k.order(t.k0, t.k1, t.j0, t.j1), t.k.atStep,
		t.sums, t.width, t.real)
}
