package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/internal/chart"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// normsSection is the section of a page about batch norms.
type normsSection struct {
	Intro    string
	Charts   []drawing
	Findings []string
	Tables   []normsTable
}

type normsTable struct {
	Summary string
	Open    bool
	Table   table
}

// mostLayers is the maximum number of layers of a heat map.
const mostLayers = 200

// Limits beyond which a page mentions a layer.
const (
	largeGap   = 0.5 // in running standard deviations
	largeRatio = 2   // ratio of variances
	largeDrift = 0.2 // in running standard deviations, in the last epoch
)

// normsSection returns the section about batch norms, or nil if the run has no figures of them.
func (r *Run) normsSection() *normsSection {
	loss := r.lossByStatistics()
	if len(r.norms) == 0 && loss == nil {
		return nil
	}
	s := &normsSection{Intro: "In training a batch norm normalises with the statistics of the batch, in use " +
		"with the running " +
		"ones. Where the two are far apart, or the running ones still move, the model in use is not the model " +
		"that was " +
		"trained. Distances are in running standard deviations of the channel, as means over the channels of a " +
		"layer."}
	if r.start.BatchNorm != "" {
		s.Intro += " In this run batch norm saw " + r.start.BatchNorm + "."
	}
	if loss != nil {
		d := drawn(loss)
		d.Caption = "The last full batch of each epoch, with the weights at its end: normalised with the " +
			"batch's statistics and with the running ones. The lines should meet."
		s.Charts = append(s.Charts, d)
	}
	for _, h := range r.heats() {
		elements, height := h.draw()
		s.Charts = append(s.Charts, drawing{h.Title, h.caption,
			chart.InPage(elements, h.inWords(), chart.Width, height)})
	}
	if n := len(r.norms); n > 0 {
		last := r.norms[n-1]
		s.Findings = findings(last.Layers)
		s.Tables = append(s.Tables, normsTable{fmt.Sprintf("%s after epoch %d", problem.Plural(len(last.Layers),
			"batch norm"), last.Epoch), len(last.Layers) <= 24, layerTable(last.Layers)})
	}
	return s
}

// lossByStatistics returns a chart with two losses of one batch: normalised with the statistics of the batch,
// and with the running statistics. It returns nil without figures.
func (r *Run) lossByStatistics() *chart.Chart {
	c := chart.Chart{Title: "Loss of the same samples, by statistics", X: "epoch", Integer: true}
	batch, running := chart.Curve{Name: "of the batch", Colour: 0}, chart.Curve{Name: "running", Colour: 1}
	for _, e := range r.epochs {
		if e.Gap == nil {
			continue
		}
		batch.X, batch.Y = append(batch.X, float64(e.Epoch)), append(batch.Y, e.Gap.Batch.float())
		running.X, running.Y = append(running.X, float64(e.Epoch)), append(running.Y, e.Gap.Running.float())
	}
	if c.Curves = []chart.Curve{batch, running}; c.Empty() {
		return nil
	}
	return &c
}

// normHeat is a heat map and its caption.
type normHeat struct {
	heat
	caption string
}

// heats returns the heat maps that have values. They show layers over epochs.
func (r *Run) heats() []normHeat {
	if len(r.norms) < 1 {
		return nil
	}
	distance := [heats - 1]float64{0.01, 0.03, 0.1, 0.2, 0.5, 1, 2}
	var out []normHeat
	for _, k := range []struct {
		title, caption, unit string
		limits               [heats - 1]float64
		value                func(*bn.Summary) float64
	}{
		{"Batch mean against running mean", "How far the means of the last batch of the epoch are from the " +
			"running ones.",
			"deviations", distance, func(s *bn.Summary) float64 { return valueOf(s.Gap) }},
		{"Batch variance against running variance", "By what factor the two differ, in the median channel: 1 " +
			"is equal.",
			"factor", [heats - 1]float64{1.03, 1.1, 1.2, 1.5, 2, 4, 10}, func(s *bn.Summary) float64 {
				v := valueOf(s.Ratio)
				return max(v, 1/v)
			}},
		{"Drift", "How far the running means moved in the epoch. It should fade as the learning rate does.",
			"deviations",
			distance, func(s *bn.Summary) float64 { return valueOf(s.Drift) }},
		{"Disagreement of the replicas", "The standard deviation of the replicas' means in the last batch: " +
			"differences that replica batch norm keeps and synchronising removes.", "deviations", distance,
			func(s *bn.Summary) float64 { return valueOf(s.Spread) }},
		{"Dead channels", "The share of channels that let nothing through: variance below 1e-30, or gamma " +
			"below 1e-4.",
			"share", [heats - 1]float64{0, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5}, func(s *bn.Summary) float64 {
				return ratio(s.Dead, s.Channels)
			}},
	} {
		h := normHeat{heat{Title: k.title, Limits: k.limits, Unit: k.unit}, k.caption}
		h.fill(r.norms, k.value)
		if len(h.Xs) > 1 && !h.empty() && !(k.title == "Dead channels" && h.allCells(0)) {
			out = append(out, h)
		}
	}
	return out
}

func valueOf(v *float32) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// allCells reports whether every known value is v.
func (h *heat) allCells(v float64) bool {
	for _, row := range h.Values {
		if slices.ContainsFunc(row, func(x float64) bool { return x == x && x != v }) {
			return false
		}
	}
	return true
}

// mostColumns is the maximum number of epochs in a heat map. If there are more, some are left out.
const mostColumns = 120

// fill adds the values of layers in each epoch. The rows are the layers of the last epoch.
func (h *normHeat) fill(norms []train.Norms, value func(*bn.Summary) float64) {
	layers := norms[len(norms)-1].Layers
	if len(layers) > mostLayers {
		h.caption += fmt.Sprintf(" The first %d of %d layers.", mostLayers, len(layers))
		layers = layers[:mostLayers]
	}
	every := (len(norms) + mostColumns - 1) / mostColumns
	var columns []train.Norms
	for i := len(norms) - 1; i >= 0; i -= every {
		columns = append(columns, norms[i])
	}
	slices.Reverse(columns)
	for _, c := range columns {
		h.Xs = append(h.Xs, c.Epoch)
	}
	for i, l := range layers {
		row := make([]float64, len(columns))
		for j, c := range columns {
			row[j] = math.NaN()
			if i < len(c.Layers) && c.Layers[i].Layer == l.Layer {
				row[j] = value(&c.Layers[i])
			}
		}
		h.Rows, h.Values = append(h.Rows, l.Layer), append(h.Values, row)
	}
}

// inWords describes a heat map for readers who cannot see it.
func (h *heat) inWords() string {
	low, high, layer := math.Inf(1), math.Inf(-1), ""
	for i, row := range h.Values {
		if v := row[len(row)-1]; !math.IsNaN(v) {
			if low = min(low, v); v > high {
				high, layer = v, h.Rows[i]
			}
		}
	}
	if low > high {
		return h.Title
	}
	return fmt.Sprintf("%s, by layer and epoch. Last: from %s to %s, in %s", h.Title, digits(low),
		digits(high), layer)
}

// findings returns sentences about layers with problems.
func findings(layers []bn.Summary) []string {
	var out []string
	add := func(sentence string, has func(*bn.Summary) bool) {
		var names []string
		for i := range layers {
			if has(&layers[i]) {
				names = append(names, layers[i].Layer)
			}
		}
		if len(names) > 0 {
			out = append(out, fmt.Sprintf("%s of %d: %s (%s).", problem.Plural(len(names), "layer"), len(layers),
				sentence, shortened(names)))
		}
	}
	add("values that are not finite; bnctl doctor lists them",
		func(s *bn.Summary) bool { return s.NonFinite > 0 })
	add(fmt.Sprintf("the means of the last batch are more than %g deviations from the running ones", largeGap),
		func(s *bn.Summary) bool { return valueOf(s.Gap) > largeGap })
	add(fmt.Sprintf("variances of the last batch differ from the running ones by more than a factor of %d",
		largeRatio),
		func(s *bn.Summary) bool {
			v := valueOf(s.Ratio)
			return v > largeRatio || v < 1.0/largeRatio
		})
	add(fmt.Sprintf("running means still moved by more than %g deviations in the last epoch", largeDrift),
		func(s *bn.Summary) bool { return valueOf(s.Drift) > largeDrift })
	add("some channels are dead", func(s *bn.Summary) bool { return s.Dead > 0 })
	if len(out) == 0 && len(layers) > 0 {
		out = append(out, "Batch and running statistics agree, and no channel is dead.")
	}
	return out
}

// shortened returns the first of many names, as text.
func shortened(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// layerTable returns a table of the batch norms as they are at one time.
func layerTable(layers []bn.Summary) table {
	t := table{Label: "Batch norms", Heads: []string{"layer", "channels", "dead", "|mean|", "var min",
		"var median",
		"var max", "batch − running", "var ratio", "drift", "replicas"}, Texts: make([]bool, 11)}
	t.Texts[0] = true
	for i := range layers {
		s := &layers[i]
		dead := fmt.Sprint(s.Dead)
		if s.NonFinite > 0 {
			dead += fmt.Sprintf(" (%d not finite)", s.NonFinite)
		}
		t.Rows = append(t.Rows, cells(s.Layer, fmt.Sprint(s.Channels), dead, digits(float64(s.Mean)),
			digits(float64(s.VarMin)), digits(float64(s.VarMedian)), digits(float64(s.VarMax)), digits(valueOf(s.Gap)),
			digits(valueOf(s.Ratio)), digits(valueOf(s.Drift)), digits(valueOf(s.Spread))))
	}
	t.Note = "|mean|: median of the absolute running means. Batch − running, drift and replicas in running " +
		"standard " +
		"deviations; var ratio: batch variance over running variance in the median channel."
	return t
}
