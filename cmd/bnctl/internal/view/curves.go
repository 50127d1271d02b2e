package view

import (
	"fmt"

	"github.com/bnctl/bnctl/evaluation"
)

// Widths of the columns in a line with a curve: its name, the current figure and, after the curve, the
// figures of validation.
const (
	nameColumns   = 10
	figureColumns = 12
	behindColumns = 15 // "  val 100.00 %"
	errorColumns  = 15 // "  error 12.34 %"
)

// curve returns the lines of a curve. The last line ends with suffix if it fits.
func (d *drawing) curve(name, figure string, values []float64, k style, suffix ...span) []line {
	width := d.size.Columns - nameColumns - figureColumns - 1
	if w := (line)(suffix).columns(); width-w >= 8 {
		width = min(width-max(w, behindColumns+errorColumns), 72)
	} else {
		suffix = nil
	}
	var out []line
	if width < 4 {
		text := padded(name, nameColumns, d.ellipsis) + alignRight(figure, figureColumns)
		return []line{append(line{{text, normal}}, suffix...)}
	}
	rows := chart(values, width, d.chartRows, d.glyphs)
	for i, cells := range rows {
		l := line{{padded("", nameColumns+figureColumns+1, ""), normal}}
		if i == len(rows)-1 {
			l = line{{padded(name, nameColumns, d.ellipsis), normal}, {alignRight(figure, figureColumns) + " ",
				strong}}
		}
		l = append(l, span{cells, k})
		if i == len(rows)-1 && len(suffix) > 0 {
			l = append(append(l, span{padded("", width-columns(cells), ""), normal}), suffix...)
		}
		out = append(out, l)
	}
	return out
}

func (d *drawing) lossLines() []line {
	figure := "-"
	if n := d.loss.values; d.last.Step > 0 {
		figure = fmt.Sprintf("%.4f", d.last.Loss)
	} else if len(n) > 0 {
		figure = fmt.Sprintf("%.4f", n[len(n)-1])
	}
	var suffix []span
	if e := d.measured; e != nil && e.ValLoss != nil {
		suffix = []span{{fmt.Sprintf("  val %.4f", *e.ValLoss), accent}}
		if !finite(float64(*e.ValLoss)) {
			suffix[0].style = bad
		}
		suffix = append(suffix, d.small(d.valLoss.values)...)
	}
	return d.curve("loss", figure, d.loss.values, middling, suffix...)
}

func (d *drawing) accuracyLines() []line {
	figure := "-"
	if n := d.accuracy.values; d.last.Step > 0 {
		figure = percent(float64(d.last.Accuracy))
	} else if len(n) > 0 {
		figure = percent(n[len(n)-1])
	}
	var suffix []span
	if e := d.measured; e != nil && e.ValAccuracy != nil {
		suffix = []span{{"  val " + percent(*e.ValAccuracy), accent},
			{"  error " + percent(1-*e.ValAccuracy), faint}}
	}
	return d.curve("accuracy", figure, d.accuracy.values, good, suffix...)
}

// overlapLines returns lines about the mean intersection over union of masks, which is computed once per
// epoch.
func (d *drawing) overlapLines() []line {
	figure := evaluation.Figure(0)
	if e := d.measured; e.ValMIoU != nil {
		figure = *e.ValMIoU
	}
	return d.curve("val mIoU", figure.Percent(), d.overlap.values, accent)
}

func (d *drawing) rateLines() []line {
	figure, suffix := "-", []span(nil)
	if d.last.Step > 0 {
		figure = fmt.Sprintf("%.0f img/s", d.last.Throughput)
		suffix = []span{{fmt.Sprintf("  lr %.4g", d.last.LR), faint}}
	} else if spent := d.Elapsed - d.first; d.rows > 0 && spent > 0 {
		figure = fmt.Sprintf("%.0f img/s", float64(d.rows)/spent.Seconds())
	}
	return d.curve("rate", figure, d.rate.values, faint, suffix...)
}

// small returns a small curve over epochs. It is placed after their last figure.
func (d *drawing) small(values []float64) []span {
	const width = 14
	if len(values) < 2 {
		return nil
	}
	return []span{{"  " + chart(values, width, 1, d.glyphs)[0], accent}}
}

// best returns the line about the best epoch so far.
func (d *drawing) best() line {
	b := d.measured.Best
	return line{{padded("best", nameColumns, ""), normal},
		{fmt.Sprintf("epoch %d, %s", b.Epoch, evaluation.FigureText(b.Figure, b.Value)), good}}
}

// percent returns a fraction from 0 to 1 as a percentage.
func percent(v float64) string { return evaluation.Figure(v).Percent() }
