package legible

import (
	"errors"
	"testing"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain, größer, 猫, 👩\u200d💻": "plain, größer, 猫, 👩\u200d💻",
		"a\x1b[2Jb\a\n\r\tc\x7f":     `a\x1b[2Jb\a\n\r\tc\x7f`,
		"\x1b]0;title\a":             `\x1b]0;title\a`,
		"\u009b31m":                  `\u009b31m`,
		"cat\u202egnp.exe":           `cat\u202egnp.exe`,
		"a\u2028b":                   `a\u2028b`,
		"\xff\xfe":                   `\xff\xfe`,
		"":                           "",
	} {
		if got := Text(text); got != want {
			t.Errorf("%+q is shown as %q, want %q", text, got, want)
		}
	}
	got := Sprintf("%-4s|%v|%d|%5.1f|%q\n%v", "a\n", errors.New("\x1b"), 3, 2.5, []string{"\a"}, Lines("x\ny\a"))
	if want := `a\n  |\x1b|3|  2.5|["\a"]` + "\nx\n" + `y\a`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
