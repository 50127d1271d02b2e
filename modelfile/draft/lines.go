package draft

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// convolution writes a convolution of unknown stride. Its padding keeps the size at a
// stride of 1.
func (d *drafter) convolution(l *layer, k kind) {
	s := declared{l.weight, ""}.shape()
	in, outs, op := s[1], s[0], "conv"
	if k == transposed {
		in, outs, op = s[0], s[1], "conv_transpose"
	}
	groups := 1
	if k == conv && in == 1 && len(d.shape) > 0 && d.shape[0] > 1 && outs%d.shape[0] == 0 {
		groups = d.shape[0] // depthwise; other groups and a shortcut cannot be told apart
	}
	d.strides++
	line := len(l.weight.Shape) == 3
	x, fits := d.operand(in * groups)
	name := clean(l.name)
	if line {
		d.lines = append(d.lines, fmt.Sprintf("  %s.image = reshape(%s, shape=%s)", name, x,
			list(in*groups, 1, length(d.shape, fits))))
		x = name + ".image"
	}
	attributes, unknown := "", "stride, pad?"
	if groups > 1 {
		attributes, unknown = fmt.Sprintf(", groups=%d", groups), "stride, pad, groups?"
	}
	if h, w := (s[2]-1)/2, (s[3]-1)/2; k == conv && h+w > 0 {
		attributes += ", pad=" + list(h, w, h, w)
	}
	if k == transposed {
		attributes += ", stride=" + list(s[2], s[3])
	}
	bias := ""
	if l.bias != nil {
		bias = ", " + read(l.bias)
	}
	d.add(l, "%s(%s, %s%s%s)  # %d -> %d, %s: %s", op, x, read(l.weight), bias, attributes,
		in*groups, outs, strings.ReplaceAll(strings.Trim(fmt.Sprint(l.weight.Shape[2:]), "[]"), " ", "x"), unknown)
	d.after(fits, outs)
	if line {
		d.shape = []int{outs, length(d.shape, fits)}
		d.lines = append(d.lines, fmt.Sprintf("  %s.line = reshape(%s, shape=%s)", name, name, list(d.shape...)))
		d.last = name + ".line"
	}
}

// length returns the length of the preceding 1-D value, or 0 if it is unknown.
func length(shape []int, fits bool) int {
	if fits && len(shape) == 2 {
		return shape[1]
	}
	return 0
}

// dense writes a dense layer. Its input is the mean of an image or the whole image,
// depending on the lengths.
func (d *drafter) dense(l *layer) {
	ins, outs := l.weight.Shape[1], l.weight.Shape[0]
	x, name := "?", clean(l.name)
	switch {
	case len(d.shape) == 1 && d.shape[0] == ins:
		x = d.last
	case len(d.shape) == 3 && d.shape[0] == ins:
		d.lines = append(d.lines, fmt.Sprintf("  %s.pool = global_avg_pool(%s)  # or another pooling?", name,
			d.last), fmt.Sprintf("  %s.flat = reshape(%s.pool, shape=[%d])", name, name, ins))
		x = name + ".flat"
	case len(d.shape) == 2 && d.shape[0] == ins:
		d.lines = append(d.lines, fmt.Sprintf("  %s.mean = reduce_mean(%s, axes=[1])  # or another pooling?", name,
			d.last))
		x = name + ".mean"
	case len(d.shape) > 1 && ins%d.shape[0] == 0:
		d.note("of %d numbers, %d for each of %d channels: a reshape of what is before it", ins, ins/d.shape[0],
			d.shape[0])
	}
	bias := ""
	if l.bias != nil {
		bias = ", " + read(l.bias)
	}
	d.add(l, "dense(%s, %s%s)  # %d -> %d", x, read(l.weight), bias, ins, outs)
	d.shape = []int{outs}
}

// aside writes a note with the known facts about a layer of unknown operation.
func (d *drafter) aside(l *layer, k kind) {
	switch k {
	case norm:
		d.add(l, "group_norm(%s, %s, %s, groups=?)  # or layer_norm(%s, %s, %s, axes=?)", d.last, read(l.weight),
			read(l.bias), d.last, read(l.weight), read(l.bias))
	case slopes:
		d.slopes(l)
	default:
		var all []string
		for _, t := range l.tensors(k) {
			all = append(all, "@"+clean(t.t.Name)+" "+tensor.Describe(tensor.F32, t.t.Shape))
		}
		d.note("? %s: no operation is known by %s", clean(l.name), strings.Join(all, ", "))
	}
}

// slopes adds a prelu with a slope for each channel, or with a single slope.
func (d *drafter) slopes(l *layer) {
	n, slope := l.weight.Shape[0], read(l.weight)
	if n == 1 && len(d.shape) > 0 && d.shape[0] > 1 {
		n = d.shape[0]
		d.lines = append(d.lines, fmt.Sprintf("  %s.each = broadcast_to(%s, shape=[%d])", clean(l.name), slope, n))
		slope = clean(l.name) + ".each"
	}
	in, _ := d.operand(n)
	d.add(l, "prelu(%s, %s)", in, slope)
}

func list(n ...int) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ",") }

// text returns the whole draft.
func (d *drafter) text(layers []*layer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "bnctl graph 1\ngraph %q\n\n", clean(d.name))
	b.WriteString("# A draft: the layers of a checkpoint in the order of the file. Each takes the value\n" +
		"# before it where the channels fit. Put values where a ? stands, add what has no weights\n" +
		"# (relu, max_pool, add, concat, reshape), and set strides and padding: " +
		"the checkpoint has none\n# of them.\n")
	for i, l := range layers {
		for _, t := range l.tensors(d.kinds[i]) {
			fmt.Fprintf(&b, "state %s %s %s\n", clean(t.t.Name), tensor.Describe(tensor.F32, t.shape()), t.rule)
		}
	}
	fmt.Fprintf(&b, "\nfunc main(%s rows %s) {\n%s\n  return logits rows = %s\n}\n", d.x, d.input,
		strings.Join(d.lines, "\n"), d.last)
	return b.String()
}
