package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bnctl/bnctl/train"
)

// barWidth is what the live line shows beside its text, in columns.
const barWidth = 28

// liveField is a part of the live line. Of parts that do not fit that with the
// highest rank goes first.
type liveField struct {
	rank int
	text string
}

// liveFields describes a step. How long it will take is the last to go.
func liveFields(e train.Stepped) []liveField {
	return []liveField{
		{2, fmt.Sprintf("epoch %d", e.Epoch)},
		{3, fmt.Sprintf("step %d", e.Step)},
		{5, fmt.Sprintf("%.0f img/s", e.Throughput)},
		{1, fmt.Sprintf("loss %.4f", e.Loss)},
		{4, fmt.Sprintf("accuracy %.1f %%", 100*e.Accuracy)},
		{0, fmt.Sprintf("ETA %s", time.Duration(e.Remaining)*time.Second)},
		{6, fmt.Sprintf("input %.0f %%", 100*e.InputWait)},
		{7, fmt.Sprintf("sync %.0f %%", 100*e.SyncWait)},
	}
}

// fitted returns the fields that fit together into that number of columns, none of
// them in part: a live line that wraps is a new line each time.
func fitted(fields []liveField, columns int) string {
	for most := len(fields); most >= 0; most-- {
		var texts []string
		for _, f := range fields {
			if f.rank < most {
				texts = append(texts, f.text)
			}
		}
		if line := strings.Join(texts, "  "); utf8.RuneCountInString(line) <= columns {
			return line
		}
	}
	return ""
}
