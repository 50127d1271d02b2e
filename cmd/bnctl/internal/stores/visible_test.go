package stores

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
)

// TestVisible checks that the queries of URLs are removed wherever an argument may have one, and that nothing
// else is removed.
func TestVisible(t *testing.T) {
	s, err := store.New(t.Context(), store.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	regular.SetRemote(s)
	t.Cleanup(func() { regular.SetRemote(nil) })
	const q = "?X-Amz-Signature=a%2Fb,c+d&token=secret"
	for arg, want := range map[string]string{
		"https://h/x.npz" + q:                                             "https://h/x.npz",
		"--init=https://h/w.bnm" + q + "#secret":                          "--init=https://h/w.bnm",
		"folder:https://h/f.zip" + q:                                      "folder:https://h/f.zip",
		"folder:https://h/g.zip" + q + "@train":                           "folder:https://h/g.zip@train",
		"--data=folder:HTTP://h/h.zip" + q:                                "--data=folder:HTTP://h/h.zip",
		"wds:https://h/s-{0..9}.tar" + q:                                  "wds:https://h/s-{0..9}.tar",
		"masks:https://h/i.zip?token=secret,https://h/j" + q:              "masks:https://h/i.zip,https://h/j",
		"npy:https://h/X.npy?token=secret,y.npy":                          "npy:https://h/X.npy,y.npy",
		"--data=npy:https://h/X2.npy?token=secret,y.npy":                  "--data=npy:https://h/X2.npy,y.npy",
		"folder:https://h/k" + q + "++csv:https://h/l" + q:                "folder:https://h/k++csv:https://h/l",
		"folder:https://h/m" + q + "@val++npy:https://h/n?token=secret,y": "folder:https://h/m@val++npy:https://h/n,y",
		"https://h/o?url=https://h/p&token=secret":                        "https://h/o",
		"s3://bucket/a?b=c":                                               "s3://bucket/a?b=c",
		"what?":                                                           "what?",
		"folder:photos?":                                                  "folder:photos?",
	} {
		got := Visible([]string{arg})[0]
		if got != want {
			t.Errorf("%s is shown as %s, want %s", arg, got, want)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s has the secret", got)
		}
	}
}
