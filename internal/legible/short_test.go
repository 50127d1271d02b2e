package legible

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShort checks that both ends of a text that is too long remain, with the number of
// characters omitted.
func TestShort(t *testing.T) {
	name := "weight." + strings.Repeat("a", 20<<10) + ".bias"
	got := Short("open m.onnx: tensor \"" + name + "\" has no data; leave it out")
	for _, want := range []string{`open m.onnx: tensor "weight.aaaa`, `aaaa.bias" has no data; leave it out`,
		" … (20094 characters left out) … "} { // 20480 + 7 + 5 + 2 quotes - 400
		if !strings.Contains(got, want) {
			t.Errorf("%s: want %q", got, want)
		}
	}
	if n := utf8.RuneCountInString(got); n > 600 {
		t.Errorf("a name of 20 KiB leaves %d characters", n)
	}
	shape := "[" + strings.Repeat("1 ", 100_000) + "1]"
	got = Short("x: a sample of " + shape + "\nsecond line")
	if n := utf8.RuneCountInString(got); n > 3200 || !strings.HasPrefix(got, "x: a sample of [1 1") ||
		!strings.HasSuffix(got, "1 1]\nsecond line") || !strings.Contains(got, "characters left out") {
		t.Errorf("a shape of 100,000 lengths leaves %d characters: %s", n, got)
	}
	for _, s := range []string{"", "short", strings.Repeat("ä", 1000), strings.Repeat("word ", 790),
		strings.Repeat(strings.Repeat("word ", 500)+"\n", 100)} {
		if Short(s) != s {
			t.Errorf("%.20q of %d bytes is cut", s, len(s))
		}
	}
	// Short never cuts a character of several bytes in two.
	if got := Short(strings.Repeat("ä", 2000)); !utf8.ValidString(got) || !strings.Contains(got,
		"(1600 characters") {
		t.Errorf("%q", got)
	}
}

// TestFold: a line breaks between its fields, never between a number and its unit.
func TestFold(t *testing.T) {
	epoch := "epoch 12: train loss 1.2345  accuracy 44.78 %  val loss 1.4321  accuracy 44.78 %  (12.3 s, 403 img/s, 5000 seen)"
	recipe := "batch 8 over 8 replicas · batch norm: 8 samples, synchronised over 8 replicas · tail keep"
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{epoch, 200, epoch},
		{epoch, 80, "epoch 12: train loss 1.2345  accuracy 44.78 %  val loss 1.4321  accuracy 44.78 %\n" +
			"   (12.3 s, 403 img/s, 5000 seen)"},
		{epoch, 79, "epoch 12: train loss 1.2345  accuracy 44.78 %  val loss 1.4321\n" +
			"   accuracy 44.78 %  (12.3 s, 403 img/s, 5000 seen)"},
		{recipe, 80, "batch 8 over 8 replicas · batch norm: 8 samples, synchronised over 8 replicas ·\n   tail keep"},
		{"one field that is too wide", 10, "one field that is too wide"},
		{"", 10, ""},
	} {
		if got := Fold(c.line, c.columns); got != c.want {
			t.Errorf("%d columns:\n%s\nwant\n%s", c.columns, got, c.want)
		}
	}
	for columns := range 130 {
		got := Fold(epoch, columns)
		if strings.Contains(got, "44.78\n") || strings.Join(strings.Fields(got),
			" ") != strings.Join(strings.Fields(epoch), " ") {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}
