package predict

import "testing"

// Three of four answers agree. This model is right three times, and the other model is right twice.
func TestCompare(t *testing.T) {
	answers := func(predicted ...int) *Details {
		d := &Details{}
		for i, p := range predicted {
			d.answers = append(d.answers, answered{sample: i, label: i, predicted: p})
		}
		return d
	}
	c, err := answers(0, 1, 2, 0).compare(answers(0, 1, 0, 0))
	if err != nil || *c != (Comparison{4, 3, 0.5, 0.25}) {
		t.Errorf("%v, %v", c, err)
	}
	want := "against f.bnm: 75.00 % of the answers agree; its accuracy is 50.00 %, this one's +25.00 points"
	if got := c.Line("f.bnm"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := answers(1).compare(answers()); err == nil {
		t.Error("fewer answers are compared")
	}
}
