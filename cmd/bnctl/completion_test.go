package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
)

// The values that completion offers for a flag are those that the flag's help lists.
func TestCompletionFollowsHelp(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"bnctl", "completion", "fish"}, &out, &errs); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	offers := regexp.MustCompile(`-l (\S+) -r -f -a '([^']*)'`).FindAllStringSubmatch(out.String(), -1)
	if len(offers) < 20 {
		t.Fatalf("%d flags have words", len(offers))
	}
	help := map[string]string{}
	app := newApp(&out, &errs)
	for _, c := range app.Commands {
		for _, f := range c.Flags {
			help[f.Names()[0]] += f.String()
		}
	}
	help["val"] += help["data"]
	for _, offer := range offers {
		if name := offer[1]; name != "model" {
			for _, word := range strings.Fields(offer[2]) {
				word = strings.TrimPrefix(strings.TrimSuffix(word, ":"), "2x")
				word = strings.TrimPrefix(word, "best:") // help lists the figures once, without "best:"
				if !strings.Contains(help[name], word) {
					t.Errorf("--%s: completion offers %q, of which help says nothing", name, word)
				}
			}
		}
	}
}
