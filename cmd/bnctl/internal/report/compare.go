package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/internal/chart"
	"github.com/bnctl/bnctl/problem"
)

// comparison lists how several runs and their results differ.
type comparison struct {
	Sentences []string
	Results   table
	Seeds     *table // nil unless some recipe was run with several seeds
	Differing *table
}

// several sets those parts of a page that compare several runs.
func (p *page) several(runs []*Run) {
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	p.Title = problem.Plural(len(runs), "run") + " side by side"
	p.Subtitle = shortened(names)
	differs := differences(runs)
	groups := seedGroups(runs, differs)
	p.Comparison = &comparison{Sentences: append(inSentences(runs, differs), outcome(runs, groups)...),
		Results: results(runs), Seeds: seedTable(groups)}
	if len(differs) > 0 {
		t := differenceTable(runs, differs)
		p.Comparison.Differing = &t
	}
	p.Norms = comparedNorms(runs)
	for i, r := range runs {
		s := r.classesSection()
		if s != nil && p.Classes == nil && i == bestOf(runs) {
			p.Classes = s
			p.Classes.Intro = "Of the best run, " + r.Name + ". " + s.Intro
		}
	}
}

// difference is a field that has different values in the runs.
type difference struct {
	name   string
	kind   string   // recipe, data or code
	values []string // one for each run
}

// differences returns the fields of recipe, data and code that differ between runs, in the
// order of the recipe.
func differences(runs []*Run) []difference {
	var names []string
	values := map[string][]string{}
	for i, r := range runs {
		fields := append(slices.Clone(r.recipe), field{"code version", r.code()}, field{"kernel class",
			r.start.Kernels},
			field{"devices", placed(r.start.Devices, r.start.Placement)})
		for _, f := range fields {
			if values[f.Name] == nil {
				names, values[f.Name] = append(names, f.Name), make([]string, len(runs))
			}
			values[f.Name][i] = f.Value
		}
	}
	var out []difference
	for _, name := range names {
		v := values[name]
		unknown := func(x string) bool { return x == "" } // a checkpoint does not record its devices
		if !slices.ContainsFunc(v, func(x string) bool { return x != v[0] }) ||
			(name == "kernel class" || name == "devices") && slices.ContainsFunc(v, unknown) {
			continue
		}
		out = append(out, difference{name, kindOf(name), v})
	}
	return out
}

// kindOf returns the kind of a field.
func kindOf(name string) string {
	switch {
	case strings.HasPrefix(name, "data.") || strings.HasPrefix(name, "validation.") ||
		strings.HasPrefix(name, "val_split") || name == "decoder":
		return "data"
	case name == "code version" || name == "release":
		return "code"
	case name == "devices":
		return "devices, which change no result"
	}
	return "recipe"
}

// inSentences returns sentences about the differences between runs.
func inSentences(runs []*Run, differs []difference) []string {
	var out []string
	for _, kind := range []string{"recipe", "data", "code"} {
		var names []string
		for _, d := range differs {
			if d.kind == kind {
				names = append(names, d.name)
			}
		}
		switch {
		case len(names) == 0 && kind == "recipe":
			out = append(out, "The recipes are the same, apart from data and code.")
		case len(names) == 0 && kind == "data":
			out = append(out, "The data is the same, by its fingerprint.")
		case len(names) == 0:
			out = append(out, "The code is the same: "+runs[0].code()+".")
		default:
			out = append(out, fmt.Sprintf("Different %s: %s.", kind, shortened(names)))
		}
	}
	return out
}

// bestOf returns the index of the run with the best epoch, or -1 if no run has one.
func bestOf(runs []*Run) int {
	index, best := -1, math.Inf(-1)
	for i, r := range runs {
		if b := r.best(); b != nil {
			if v, _ := b.score(); v > best {
				index, best = i, v
			}
		}
	}
	return index
}

// outcome returns sentences that compare the results of runs.
func outcome(runs []*Run, groups []*seedGroup) []string {
	var out []string
	best := bestOf(runs)
	if best < 0 {
		return []string{"No run has figures of an epoch."}
	}
	b := runs[best].best()
	v, name := b.score()
	text := fmt.Sprintf("%s has the best %s: %s in epoch %d", runs[best].Name, name, percent(v), b.Epoch)
	for i, r := range runs {
		o := r.best()
		if i == best || o == nil {
			continue
		}
		w, other := o.score()
		if other != name {
			text += fmt.Sprintf("; of %s it is %s, %s", r.Name, other, percent(w))
			continue
		}
		text += fmt.Sprintf("; %s is %.2f points below", r.Name, 100*(v-w))
		if v == w {
			text = strings.TrimSuffix(text, "0.00 points below") + "as good"
		}
	}
	if text += "."; !hasSeveralSeeds(groups) {
		text += " One run of each is weak evidence: seeds differ by about as much."
	}
	out = append(out, text)
	if judgedApart(runs) {
		out = append(out, "The runs were evaluated on different data: their figures are not of the same samples.")
	}
	return append(out, sameTemplates(runs)...)
}

// judgedApart reports whether the runs were evaluated on different data.
func judgedApart(runs []*Run) bool {
	first := ""
	for _, r := range runs {
		reference := r.start.recipe.Validation.Fingerprint
		if reference == "" || r.best() == nil {
			continue
		}
		if first == "" {
			first = reference
		}
		if reference != first {
			return true
		}
	}
	return false
}

// sameTemplates returns sentences about runs that have made equal templates, byte by byte.
func sameTemplates(runs []*Run) []string {
	bySum := map[string][]string{}
	var sums []string
	for _, r := range runs {
		if r.done == nil || r.done.SHA256 == "" {
			continue
		}
		if bySum[r.done.SHA256] == nil {
			sums = append(sums, r.done.SHA256)
		}
		bySum[r.done.SHA256] = append(bySum[r.done.SHA256], r.Name)
	}
	var out []string
	for _, sum := range sums {
		if names := bySum[sum]; len(names) > 1 {
			out = append(out, fmt.Sprintf("%s made the same template, bit for bit: sha256 %s.", strings.Join(names,
				" and "),
				sum))
		}
	}
	return out
}

func swatch(run int) string { return fmt.Sprintf("c%d", run%seriesColours) }

// results returns the table of the results of runs.
func results(runs []*Run) table {
	t := table{Label: "What came out", Heads: []string{"run", "state", "best", "epoch", "last",
		"validation loss",
		"train loss", "time", "images/s"}, Texts: []bool{true, true, false, false, false, false, false, false,
		false}}
	best := bestOf(runs)
	for i, r := range runs {
		c := cells(r.Name, r.state(), "-", "-", "-", "-", "-", duration(r.seconds()), "-")
		c.Cells[0].Swatch, c.Mark = swatch(i), i == best
		if b := r.best(); b != nil {
			v, name := b.score()
			last := &r.epochs[len(r.epochs)-1]
			w, _ := last.score()
			for k, text := range []string{percent(v) + " " + name, fmt.Sprint(b.Epoch), percent(w),
				number4(last.ValLoss.float()), number4(last.TrainLoss.float())} {
				c.Cells[2+k].Text = text
			}
			c.Cells[8].Text = thousands(last.Throughput.float())
		}
		t.Rows = append(t.Rows, c)
	}
	t.Note = "Last: of the last epoch, as are the losses and images a second."
	return t
}

// differenceTable returns the table of differences.
func differenceTable(runs []*Run, differs []difference) table {
	t := table{Label: "Differences", Heads: []string{"of", "field"}, Texts: []bool{true, true}}
	for _, r := range runs {
		t.Heads, t.Texts = append(t.Heads, r.Name), append(t.Texts, true)
	}
	for _, d := range differs {
		c := cells(d.kind, d.name)
		for i, v := range d.values {
			if strings.HasSuffix(d.name, "fingerprint") || d.name == "graph" {
				v = v[:min(12, len(v))]
			}
			if v == "" {
				v = "-"
			}
			c.Cells = append(c.Cells, cell{Text: v, Swatch: swatch(i)})
		}
		t.Rows = append(t.Rows, c)
	}
	return t
}

// comparedNorms compares the batch norms at the end of the runs. It returns nil unless at least two runs have
// figures of batch norms.
func comparedNorms(runs []*Run) *normsSection {
	t := table{Label: "Batch norms of the runs", Heads: []string{"run", "batch norm saw", "epoch", "batch loss",
		"running loss", "largest batch − running", "largest drift", "dead channels"},
		Texts: []bool{true, true, false, false, false, false, false, false}}
	gaps := chart.Chart{Title: "Batch mean against running mean, mean over layers", X: "epoch", Integer: true}
	losses := chart.Chart{Title: "Running loss over batch loss of the same samples", X: "epoch", Integer: true}
	known := 0
	for i, r := range runs {
		c := cells(r.Name, r.start.BatchNorm, "-", "-", "-", "-", "-", "-")
		c.Cells[0].Swatch = swatch(i)
		r.addNorms(palette{i, true, r.Name}, &gaps, &losses)
		if n := len(r.norms); n > 0 {
			known++
			last := r.norms[n-1]
			gap, drift, dead := math.NaN(), math.NaN(), 0
			for k := range last.Layers {
				gap, drift = larger(gap, valueOf(last.Layers[k].Gap)), larger(drift, valueOf(last.Layers[k].Drift))
				dead += last.Layers[k].Dead
			}
			c.Cells[2].Text, c.Cells[5].Text = fmt.Sprint(last.Epoch), digits(gap)
			c.Cells[6].Text, c.Cells[7].Text = digits(drift), fmt.Sprint(dead)
		}
		if n := len(r.epochs); n > 0 && r.epochs[n-1].Gap != nil {
			known++
			c.Cells[3].Text, c.Cells[4].Text = number4(r.epochs[n-1].Gap.Batch.float()),
				number4(r.epochs[n-1].Gap.Running.float())
		}
		t.Rows = append(t.Rows, c)
	}
	if known == 0 {
		return nil
	}
	s := &normsSection{Intro: "In training a batch norm normalises with the statistics of the batch, in use " +
		"with the running " +
		"ones. Distances are in running standard deviations of the channel.",
		Tables: []normsTable{{"Batch norms at the end of each run", true, t}}}
	for _, c := range []*chart.Chart{&gaps, &losses} {
		if !c.Empty() {
			s.Charts = append(s.Charts, drawn(c))
		}
	}
	return s
}

// addNorms adds the curves about the batch norms of a run to two charts.
func (r *Run) addNorms(p palette, gaps, losses *chart.Chart) {
	k := p.single()
	for _, n := range r.norms {
		sum, count := 0.0, 0.0
		for i := range n.Layers {
			if v := valueOf(n.Layers[i].Gap); chart.Finite(v) {
				sum, count = sum+v, count+1
			}
		}
		if count > 0 {
			k.X, k.Y = append(k.X, float64(n.Epoch)), append(k.Y, sum/count)
		}
	}
	gaps.Curves = append(gaps.Curves, k)
	k = p.single()
	for _, e := range r.epochs {
		if e.Gap != nil && e.Gap.Batch.isFinite() && e.Gap.Running.isFinite() && e.Gap.Batch.float() > 0 {
			k.X, k.Y = append(k.X, float64(e.Epoch)), append(k.Y, e.Gap.Running.float()/e.Gap.Batch.float())
		}
	}
	losses.Curves = append(losses.Curves, k)
}

// larger returns the larger of two values. If one of them is NaN, it returns the other.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}
