package view

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// times states how a device or a rank uses its time.
type times struct {
	name, count          string
	compute, wait, input float64 // shares of the time
	instead              string  // text in place of the bar; "" if there is a bar
}

// deviceLines returns a header, and a line with a bar for each device and rank. There are at most rows lines.
func (d *drawing) deviceLines(rows int) []line {
	list := d.allTimes()
	var out []line
	switch need := len(list) + 2; {
	case rows < 2 || len(list) == 0:
		return nil
	case rows >= min(need, 5):
		out, rows = append(out, nil), rows-1
	}
	name, count := nameColumns, 0
	for _, t := range list {
		name, count = max(name, columns(t.name)), max(count, columns(t.count))
	}
	name = min(name, max(d.size.Columns/4, 8))
	if d.size.Columns < 50 {
		count = 0
	}
	out, rows = append(out, d.legend(name, count)), rows-1
	if len(list) > rows {
		rest := list[rows-1:]
		list = append(list[:rows-1:rows-1], mean(rest))
	}
	for _, t := range list {
		out = append(out, d.times(t, name, count))
	}
	return out
}

// allTimes returns the times of the devices, and then the ones of the ranks.
func (d *drawing) allTimes() []times {
	var list []times
	for _, v := range d.devices {
		count := problem.Plural(v.Replicas, "replica")
		if v.Sending > 0 {
			count += fmt.Sprintf(", sending %.0f %%", 100*bounded(v.Sending))
		}
		list = append(list, times{name: v.Device, count: count, compute: v.Compute,
			wait: v.SyncWait, input: d.starved, instead: v.lost})
	}
	for i, r := range d.ranks {
		list = append(list, times{name: fmt.Sprintf("rank %d", i), count: fmt.Sprintf("%.0f img/s", r.Throughput),
			compute: r.Compute, wait: r.SyncWait, input: r.InputWait})
	}
	return list
}

// mean returns the mean times of several devices or ranks, which are shown in one line.
func mean(devices []times) times {
	sum, n, lost := times{name: fmt.Sprintf("%d more", len(devices))}, 0.0, 0
	for _, t := range devices {
		if t.instead != "" {
			lost++
			continue
		}
		n++
		sum.compute, sum.wait, sum.input = sum.compute+t.compute, sum.wait+t.wait, sum.input+t.input
	}
	if lost > 0 {
		sum.count = fmt.Sprintf("%d lost", lost)
	}
	if n == 0 {
		sum.instead = "lost"
		return sum
	}
	sum.compute, sum.wait, sum.input = sum.compute/n, sum.wait/n, sum.input/n
	return sum
}

// numbersColumns is the width of "  76 %  15 %   3 %".
const numbersColumns = 18

// barCells returns the width of a bar of times, or 0 if too few columns are left for one.
func (d *drawing) barCells(name, count int) int {
	cells := min(d.size.Columns-name-count-3-numbersColumns, 60)
	if cells < 6 {
		return 0
	}
	return cells
}

// legend returns the line that explains the colours of the bars.
func (d *drawing) legend(name, count int) line {
	l := line{{padded("where time goes", max(name+count+3, 17), d.ellipsis), faint}}
	for _, c := range []struct {
		cell, text string
		style      style
	}{{d.compute, "compute", good}, {d.wait, "waiting", middling}, {d.input, "input", accent}} {
		l = append(l, span{c.cell, c.style}, span{" " + c.text + "  ", faint})
	}
	return l
}

// times returns a line with a bar, and the shares in percent.
func (d *drawing) times(t times, name, count int) line {
	l := line{{padded(middle(t.name, name, d.ellipsis), name, d.ellipsis) + " ", normal}}
	if count > 0 {
		l = append(l, span{alignRight(cut(t.count, count, d.ellipsis), count) + "  ", faint})
	}
	if t.instead != "" {
		return append(l, span{t.instead, bad})
	}
	fractions := [3]float64{t.compute, t.wait, t.input}
	if cells := d.barCells(name, count); cells > 0 {
		l = append(l, d.bar(fractions, cells)...)
	}
	for i, v := range fractions {
		l = append(l, span{fmt.Sprintf(" %3.0f %%", 100*bounded(v)), [...]style{good, middling, accent}[i]})
	}
	return l
}

// bar draws a bar with three parts, which are fractions of its length.
func (d *drawing) bar(fractions [3]float64, cells int) []span {
	var out []span
	cellsLeft := cells
	for i, v := range fractions {
		n := min(int(bounded(v)*float64(cells)+0.5), cellsLeft)
		cellsLeft -= n
		out = append(out, span{strings.Repeat([...]string{d.compute, d.wait, d.input}[i], n),
			[...]style{good, middling, accent}[i]})
	}
	return append(out, span{strings.Repeat(d.nought, cellsLeft), normal})
}

// bounded returns v limited to the range from 0 to 1.
func bounded(v float64) float64 {
	if v != v {
		return 0
	}
	return min(max(v, 0), 1)
}

// middle shortens a long name in its middle, because its end distinguishes it from other names.
func middle(name string, limit int, mark string) string {
	if columns(name) <= limit || limit < 2+columns(mark) {
		return name
	}
	tail, left := "", (limit-columns(mark))/2
	runes := []rune(name)
	for i := len(runes) - 1; i >= 0 && left >= runeColumns(runes[i]); i-- {
		left -= runeColumns(runes[i])
		tail = string(runes[i]) + tail
	}
	return cut(name, limit-columns(tail), mark) + tail
}
