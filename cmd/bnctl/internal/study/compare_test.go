package study

import (
	"math"
	"strings"
	"testing"
)

// A verdict is clear only if the intervals of both accuracy and loss are on one side of 0.
func TestJudge(t *testing.T) {
	up, down := difference{Mean: 2, Margin: 1, Seeds: 3}, difference{Mean: -2, Margin: 1, Seeds: 3}
	chance, one := difference{Mean: 2, Margin: 2.5, Seeds: 3}, difference{Mean: 9, Margin: math.Inf(1), Seeds: 1}
	for _, c := range []struct {
		gain, more difference // differences of accuracy and of loss
		want       verdict
	}{
		{up, down, better},
		{up, chance, betterAccuracy},
		{chance, down, betterLoss},
		{up, up, opposed},
		{down, down, opposed},
		{down, up, worse},
		{chance, up, worse},
		{down, chance, worse},
		{chance, chance, noDifference},
		{one, one, oneSeed},
		{difference{}, difference{}, noDifference},
	} {
		if got := judge(c.gain, c.more); got != c.want {
			t.Errorf("accuracy %v, loss %v: verdict %d, want %d", c.gain, c.more, got, c.want)
		}
	}
}

// An answer contains "clearly" or "yes" only if neither of the two intervals contains 0. Here all seeds agree
// on the accuracy, but not on the loss.
func TestAnswersFollowBothIntervals(t *testing.T) {
	r := made(5, 0.2)
	for _, run := range r.Runs {
		if run.Arm == Replica && run.PerReplica == 2 {
			for i := range run.Scores {
				run.Scores[i].Loss += []float64{-1, 0, 1}[run.Seed-1]
			}
		}
	}
	got := answers(r)
	if a := got["Does batch n"]; strings.Contains(a, "clearly") ||
		!strings.Contains(a, "With 2 samples per replica: yes in accuracy, no difference beyond chance in loss") {
		t.Errorf("needs sync: %q", a)
	}
	if a := got["Does replica"]; !strings.HasPrefix(a, "In accuracy yes, in loss not beyond chance: ") {
		t.Errorf("smaller differs: %q", a)
	}
}

// A difference beyond chance is written with enough digits to show it.
func TestTextShowsWhatIsClear(t *testing.T) {
	for _, c := range []struct {
		mean, margin float64
		want         string
	}{
		{0.00194, 0.00190, "+0.00194 ± 0.00190"},
		{-0.00194, 0.00190, "-0.00194 ± 0.00190"},
		{-0.00046, 0.00053, "-0.0005 ± 0.0005"},
		{0.5, 0.1, "+0.5000 ± 0.1000"},
	} {
		if got := (difference{Mean: c.mean, Margin: c.margin, Seeds: 4}).loss(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
