package study

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// made returns results where replica batch norm with 2 samples loses drop points, and rule first loses the
// same again. The results of different seeds differ by up to noise points.
func made(drop, noise float64) *Results {
	r := &Results{Model: "m", Data: "d", Batch: 32, PerReplica: []int{2, 16}, Seeds: []uint64{1, 2, 3},
		Epochs: 2, Steps: 20}
	random := rand.New(rand.NewPCG(1, 2))
	for _, seed := range r.Seeds {
		for _, s := range r.Settings() {
			base := 60 + noise*random.Float64()
			run := Run{Setting: s, Seed: seed, Epochs: []Epoch{{1, 0.3, 2, nil, nil}, {2, base / 100, 1, nil, nil}}}
			add := func(name string, points float64) {
				run.Scores = append(run.Scores, Score{name, 1000, points / 100, 2 - points/100, nil, nil})
			}
			first := base
			if s.Arm == Replica && s.PerReplica == 2 {
				base, first = base-drop, base-2*drop
			}
			add("pooled", base)
			if s.Arm == Replica {
				add("first", first)
				run.Retained = []VarianceRatio{{"bn1", 0.9}, {"bn2", 0.8}}
			}
			r.SetRun(run)
		}
	}
	for _, s := range r.Settings() {
		r.SetSpeed(Speed{Setting: s, Throughput: 100, Sync: 0.25})
	}
	r.Samplings = []Sampling{{Model: "c", Samples: 64, Layers: []Layer{law("bn1", 1, 1), law("bn2", 16, 3)}}}
	return r
}

// law returns a layer where a sample has m effective values.
func law(name string, elements int, m float64) Layer {
	l := Layer{Name: name, Elements: elements}
	for _, k := range []int{2, 4, 8} {
		l.Ratios = append(l.Ratios, Ratio{k, 1 - 1/(float64(k)*m), 0.001})
	}
	return l
}

func answers(r *Results) map[string]string {
	out := map[string]string{}
	for _, f := range r.Findings() {
		out[f.Question[:12]] = f.Answer
	}
	return out
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		drop, noise float64
		want        map[string]string // beginnings of questions, parts of answers
	}{
		{5, 0.2, map[string]string{"Does batch n": "With 2 samples per replica: yes, clearly; with 16",
			"Which merge ": "With 2 samples per replica pooled has the lowest loss; against pooled: first " +
				"+0.0500 ± 0.0000 (worse with 3 of 3 seeds); beyond chance: first. With",
			"Does replica": "Yes: accuracy -", "Does everyth": "Yes: all", "Do sampled v": "3 of 3 cases"}},
		{0, 3, map[string]string{"Does batch n": "With 2 and 16 samples per replica: no difference",
			"Which merge ": "first +0.0000 ± 0.0000 (worse with 0 of 3 seeds); within", "Does everyth": "Yes: all"}},
	} {
		got := answers(made(c.drop, c.noise))
		for q, want := range c.want {
			if !strings.Contains(got[q], want) {
				t.Errorf("drop %g: %s: %q lacks %q", c.drop, q, got[q], want)
			}
		}
	}
	broken := made(5, 0.2)
	broken.Samplings[0].Layers[0].Ratios[0].Biased = 0.6 // predicted 0.5
	if got := answers(broken)["Do sampled v"]; !strings.Contains(got, "2 of 3") {
		t.Errorf("a variance that is off: %q", got)
	}
	if got := (&Results{PerReplica: []int{2}}).Findings(); len(got) > 0 {
		t.Errorf("answers from nothing: %v", got)
	}
}

// The interval is computed by Student's t: for three pairs it is 4.303 standard errors.
func TestPaired(t *testing.T) {
	r := &Results{Seeds: []uint64{1, 2, 3, 4}}
	score := func(v ...float64) map[uint64]Score {
		out := map[uint64]Score{}
		for i, x := range v {
			out[uint64(i+1)] = Score{Accuracy: x / 100}
		}
		return out
	}
	d := r.paired(score(1, 2, 3), score(0, 0, 0, 9), accuracy)
	if want := 4.302653 / math.Sqrt(3); d.Seeds != 3 || math.Abs(d.Mean-2) > 1e-12 ||
		math.Abs(d.Margin-want) > 1e-5 || d.Clear() {
		t.Errorf("got %+v, want 2 ± %g of three seeds, not clear", d, want)
	}
	if one := r.paired(score(1), score(0), accuracy); one.Clear() || !math.IsInf(one.Margin, 1) {
		t.Errorf("one seed: %+v is no certainty", one)
	}
}

func TestTableHasEveryCase(t *testing.T) {
	r := made(5, 0.2)
	if rows := r.Table(); len(rows) != 1+2*(1+2) || rows[0].Seeds != 3 || rows[0].Throughput != 100 {
		t.Errorf("rows %+v", rows)
	}
	lines := strings.Split(strings.TrimSpace(r.Text()), "\n")
	for _, l := range lines[1:] {
		if len([]rune(l)) != len([]rune(lines[0])) {
			t.Errorf("%q is not as long as %q", l, lines[0])
		}
	}
}

// The page is well-formed HTML, and loads nothing from elsewhere.
func TestPage(t *testing.T) {
	r := made(5, 0.2)
	r.Commands = []string{"bnctl study bn --data 'a b' <x>"}
	var b bytes.Buffer
	if err := r.Page(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"var(--series1)", "&lt;x&gt;", "prefers-color-scheme: dark", "34.7 %", "±"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "src=", "href=", "#-", "NaN"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(text, "<svg"); n != 4 {
		t.Errorf("%d plots, want 4", n)
	}
	for _, p := range r.Plots() {
		d := xml.NewDecoder(bytes.NewReader(p.File()))
		var err error
		for err == nil {
			_, err = d.Token()
		}
		if err != io.EOF {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestOneSeedSaysNothingOfChance(t *testing.T) {
	r := made(5, 0.2)
	r.Runs = slices.DeleteFunc(r.Runs, func(run Run) bool { return run.PerReplica == 16 && run.Seed != 1 })
	got := answers(r)
	for question, want := range map[string]string{
		"Does batch n": "; with 16 samples per replica: one seed does not show the extent of chance.",
		"Does replica": "One seed does not show the extent of chance: accuracy -",
	} {
		if !strings.Contains(got[question], want) {
			t.Errorf("got %q, want %q in it", got[question], want)
		}
	}
	for _, row := range r.Table() {
		if cells := strings.Join(row.cells(), " "); strings.Contains(cells, "±") != (row.Seeds > 1) {
			t.Errorf("%s has a deviation, or none: %s", problem.Plural(row.Seeds, "seed"), cells)
		}
	}
	if got, want := listed([]string{"1", "4", "8"}), "1, 4 and 8"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
