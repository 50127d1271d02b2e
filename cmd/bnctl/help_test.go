package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
)

// Help fits into a narrow terminal, except for examples. The flags of train are listed by topic.
func TestHelpOfSixtyColumns(t *testing.T) {
	t.Setenv("COLUMNS", "60")
	for _, command := range []string{"train", "predict", "serve", "models draft"} {
		var out, errs bytes.Buffer
		args := append(append([]string{"bnctl"}, strings.Fields(command)...), "--help")
		if code := run(context.Background(), args, &out, &errs); code != exitDone {
			t.Fatalf("%s: exit code %d: %s", command, code, errs.String())
		}
		_, options, _ := strings.Cut(out.String(), "OPTIONS:")
		for line := range strings.Lines(options) {
			if len([]rune(strings.TrimRight(line, "\n"))) > 60 {
				t.Errorf("%s: %s", command, line)
			}
		}
		if command == "train" && !strings.Contains(options, "\n   Optimizer and loss\n") {
			t.Errorf("no groups in\n%s", options)
		}
	}
}

// TestHelpListsSources checks that the help of every command that has a data source lists the kinds of data
// sources.
func TestHelpListsSources(t *testing.T) {
	for _, command := range []string{"train", "eval", "predict", "doctor", "study bn", "data info", "data show",
		"data mean-std"} {
		var out, errs bytes.Buffer
		run(context.Background(), append(append([]string{"bnctl"}, strings.Fields(command)...), "--help"), &out, &errs)
		text := strings.Join(strings.Fields(out.String()), " ")
		if !strings.Contains(text, data.Kinds()) {
			t.Errorf("%s --help does not list %s", command, data.Kinds())
		}
	}
}
