package legible

import "testing"

// TestShellWord checks that a printed command can be pasted into a shell.
func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{"cifar.bnc": "cifar.bnc", "a b": "'a b'", "": "''",
		"it's": `'it'\''s'`, "cuda:0,2xcpu": "cuda:0,2xcpu", "$HOME": "'$HOME'"} {
		if got := ShellWord(text); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", text, got, want)
		}
	}
}
