package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
)

// section is a group of lines. If not all sections fit on the terminal, those with the highest rank are left
// out first.
type section struct {
	rank  int
	lines []line
}

// Ranks of the sections with a fixed number of lines. Blank lines are left out first.
const (
	ofRun = iota
	ofEpoch
	ofLoss
	ofAccuracy
	ofRate
	ofBest
	ofTitle
	ofSpace
)

// Draw returns the lines that show the state on a terminal. There are fewer lines than the terminal has rows,
// and each has fewer columns than the terminal.
func (s *State) Draw(terminal waiting.Size, unicode bool) []line {
	d := &drawing{State: s, size: limited(terminal), glyphs: &ascii, chartRows: 1}
	if unicode {
		d.glyphs = &fine
	}
	if d.size.Rows >= 26 {
		d.chartRows = 3
	}
	if d.size.Rows < 1 || d.size.Columns < 1 {
		return nil
	}
	fixed := fitting(d.fixed(), d.size.Rows)
	lines := lines(fixed)
	lines = append(lines, d.changing(d.size.Rows-len(lines))...)
	for i := range lines {
		lines[i] = lines[i].fitted(d.size.Columns, d.glyphs)
	}
	return lines
}

// drawing is a state that is drawn at a certain size.
type drawing struct {
	*State
	*glyphs
	size      waiting.Size
	chartRows int // number of rows of each curve
}

// space is a section with a blank line.
var space = section{ofSpace, []line{nil}}

// fixed returns the sections that have the same number of lines at all times.
func (d *drawing) fixed() []section {
	if d.started == nil {
		return []section{space, {ofTitle, []line{{{d.Title, strong}}}}, {ofRun, []line{d.loading()}}}
	}
	bars := d.bars()
	sections := []section{space, {ofTitle, []line{d.title()}}, {ofEpoch, bars[:1]}, {ofRun, bars[1:]}, space,
		{ofLoss, d.lossLines()}, {ofAccuracy, d.accuracyLines()}}
	if len(d.overlap.values) > 0 || d.overlap.count > 0 {
		sections = append(sections, section{ofAccuracy, d.overlapLines()})
	}
	sections = append(sections, section{ofRate, d.rateLines()})
	if d.measured != nil && d.measured.Best != nil {
		sections = append(sections, section{ofBest, []line{d.best()}})
	}
	return sections
}

// fitting returns those sections that together fit into the given number of rows.
func fitting(sections []section, rows int) []section {
	for len(lines(sections)) > rows {
		worst := slices.MaxFunc(sections, func(a, b section) int { return a.rank - b.rank }).rank
		i := len(sections) - 1
		for sections[i].rank != worst {
			i--
		}
		sections = slices.Delete(slices.Clone(sections), i, i+1)
	}
	return sections
}

func lines(sections []section) []line {
	var out []line
	for _, s := range sections {
		out = append(out, s.lines...)
	}
	return out
}

// changing returns the lines about devices and events, even if there are many, in at most rows rows.
func (d *drawing) changing(rows int) []line {
	devices, events := len(d.devices)+len(d.ranks), len(d.happened)
	if d.started == nil || rows < 2 {
		return nil
	}
	forEvents := min(events, max(rows/3, rows-devices-3)) // leave a blank line and the header of devices
	if forEvents > 0 {
		forEvents = min(forEvents, rows-1)
	}
	forDevices := rows - forEvents
	if forEvents > 0 && forDevices > 3 {
		forDevices-- // for the blank line
	}
	out := d.deviceLines(forDevices)
	if len(out) > 0 && rows > forEvents+len(out) && forEvents > 0 {
		out = append(out, nil)
	}
	for _, h := range d.happened[events-forEvents:] {
		out = append(out, line{{alignRight(clock(h.elapsed), 7) + "  ", faint}, {h.text, h.style}})
	}
	return out
}

// clock returns a duration in the form of a clock: "0:07", "1:02:03".
func clock(d time.Duration) string {
	n := int(max(d, 0).Seconds())
	if n < 3600 {
		return fmt.Sprintf("%d:%02d", n/60, n%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
}
