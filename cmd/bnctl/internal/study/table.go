package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Row is a row of the table: a setting, with one set of running statistics.
type Row struct {
	Setting
	Statistics string  `json:"statistics"`
	Seeds      int     `json:"seeds"`
	Accuracy   Figure  `json:"accuracy"` // percent
	Loss       Figure  `json:"loss"`
	Throughput float64 `json:"images_per_s"` // 0: not measured
	Sync       float64 `json:"sync_wait"`    // share of the time that devices wait
}

// Figure is a mean over the seeds, and the standard deviation between them. With one seed the deviation is 0.
type Figure struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

func figure(v []float64) Figure {
	if len(v) == 0 {
		return Figure{}
	}
	f := Figure{Mean: stat.Mean(v, nil)}
	if len(v) > 1 {
		f.Deviation = math.Sqrt(stat.Variance(v, nil))
	}
	return f
}

// Table returns the rows of all settings that have runs.
func (r *Results) Table() []Row {
	var rows []Row
	for _, s := range r.Settings() {
		for _, name := range r.statistics(s) {
			row := Row{Setting: s, Statistics: name}
			var accuracies, losses []float64
			for _, score := range r.bySeed(s, name) {
				accuracies = append(accuracies, 100*score.fraction())
				losses = append(losses, score.Loss)
			}
			row.Seeds, row.Accuracy, row.Loss = len(losses), figure(accuracies), figure(losses)
			if v := r.speed(s); v != nil {
				row.Throughput, row.Sync = v.Throughput, v.Sync
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// bySeed returns the scores of a setting, in the order of the seeds.
func (r *Results) bySeed(s Setting, statistics string) []Score {
	scores := r.scores(s, statistics)
	var out []Score
	for _, seed := range r.Seeds {
		if score, ok := scores[seed]; ok {
			out = append(out, score)
		}
	}
	return out
}

// cells returns the cells of the row as text. columns returns their headings.
func (w Row) cells() []string {
	speed, sync := "-", "-"
	if w.Throughput > 0 {
		speed, sync = fmt.Sprintf("%.0f", w.Throughput), fmt.Sprintf("%.1f %%", 100*w.Sync)
	}
	accuracy, loss := fmt.Sprintf("%.2f", w.Accuracy.Mean), fmt.Sprintf("%.4f", w.Loss.Mean)
	if w.Seeds > 1 {
		accuracy += fmt.Sprintf(" ± %.2f", w.Accuracy.Deviation)
		loss += fmt.Sprintf(" ± %.4f", w.Loss.Deviation)
	}
	return []string{string(w.Arm), fmt.Sprint(w.PerReplica), w.Statistics, fmt.Sprint(w.Seeds), accuracy, loss,
		speed, sync}
}

// refused returns lines for the settings that cannot be trained.
func (r *Results) refused() (lines [][]string) {
	for _, w := range r.Refused {
		lines = append(lines, []string{string(w.Arm), fmt.Sprint(w.PerReplica), "-", "-", "refused", "refused",
			"-", "-"})
	}
	return lines
}

// headings returns the headings of the columns.
func (r *Results) headings() []string {
	return []string{"batch norm", "per replica", "statistics", "seeds", r.worded("accuracy") + " %", "loss",
		"images/s",
		"synchronising"}
}

// Text returns the table as Markdown, with aligned columns.
func (r *Results) Text() string {
	lines := [][]string{r.headings()}
	for _, row := range r.Table() {
		lines = append(lines, row.cells())
	}
	return aligned(append(lines, r.refused()...))
}

// aligned formats lines as a table. The first line is the head.
func aligned(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, cell := range l {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w)
	}
	var b strings.Builder
	for _, l := range slices.Insert(slices.Clone(lines), 1, rule) {
		for i, cell := range l {
			fmt.Fprintf(&b, "| %s%s ", cell, strings.Repeat(" ", widths[i]-len([]rune(cell))))
		}
		b.WriteString("|\n")
	}
	return b.String()
}
