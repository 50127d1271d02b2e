package report

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// seedGroup has runs that differ at most in their seeds and devices.
type seedGroup struct {
	fields string // values of the fields that differ between groups
	figure string // name of the figure that best has
	seeds  []string
	best   []float64 // figure of the best epoch, by seed
	last   []float64
}

// seedGroups groups those runs that have figures. Of two runs with the same seed only the first counts,
// because the second adds no evidence.
func seedGroups(runs []*Run, differs []difference) []*seedGroup {
	index := slices.IndexFunc(differs, func(d difference) bool { return d.name == "seed" })
	if index < 0 {
		return nil
	}
	var groups []*seedGroup
	for i, r := range runs {
		b := r.best()
		if b == nil {
			continue
		}
		best, figure := b.score()
		last, _ := r.epochs[len(r.epochs)-1].score()
		fields := recipeOfRun(differs, i)
		g := slices.IndexFunc(groups, func(g *seedGroup) bool { return g.fields == fields && g.figure == figure })
		if g < 0 {
			g, groups = len(groups), append(groups, &seedGroup{fields: fields, figure: figure})
		}
		if seed := differs[index].values[i]; !slices.Contains(groups[g].seeds, seed) {
			groups[g].add(seed, best, last)
		}
	}
	return groups
}

func (g *seedGroup) add(seed string, best, last float64) {
	g.seeds, g.best, g.last = append(g.seeds, seed), append(g.best, best), append(g.last, last)
}

// recipeOfRun returns the values of a run in those fields that influence its result, except the seed.
func recipeOfRun(differs []difference, run int) string {
	var list []string
	for _, d := range differs {
		if d.name != "seed" && d.name != "devices" {
			list = append(list, fmt.Sprintf("%s %.12s", d.name, d.values[run]))
		}
	}
	return strings.Join(list, ", ")
}

// hasSeveralSeeds reports whether some group has two or more seeds.
func hasSeveralSeeds(groups []*seedGroup) bool {
	return slices.ContainsFunc(groups, func(g *seedGroup) bool { return len(g.seeds) > 1 })
}

// seedTable returns a table of groups of runs. It has the mean and the standard deviation over the seeds of
// each group.
func seedTable(groups []*seedGroup) *table {
	if !hasSeveralSeeds(groups) {
		return nil
	}
	t := &table{Label: "Runs that differ in the seed alone",
		Heads: []string{"recipe", "seeds", "mean of the best", "deviation", "mean of the last", "deviation"},
		Texts: []bool{true, true, false, false, false, false},
		Note: "Deviation: the standard deviation between seeds, in points. Best epochs are chosen by the same " +
			"figure, so their mean is too high by chance; the last epoch has no such choice."}
	for _, g := range groups {
		name := g.fields
		if name == "" {
			name = "all runs"
		}
		c := cells(name, strings.Join(g.seeds, " "))
		for _, v := range [][]float64{g.best, g.last} {
			mean, deviation := stat.MeanStdDev(v, nil)
			spread := "-"
			if len(v) > 1 {
				spread = fmt.Sprintf("%.2f", 100*deviation)
			}
			c.Cells = append(c.Cells, cell{Text: percent(mean) + " " + g.figure}, cell{Text: spread})
		}
		t.Rows = append(t.Rows, c)
	}
	return t
}
