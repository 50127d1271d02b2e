package bn

import (
	"fmt"
	"strconv"
	"strings"
)

// Update selects when the moments of replicas become running statistics in mode Replica: "step",
// "posthoc" or "async:S" with a span of S steps.
type Update string

// These are the updates without a span.
const (
	EveryStep Update = "step"    // merged over all replicas with every step
	PostHoc   Update = "posthoc" // statistics stay per replica and are merged when the model is used
)

const asyncPrefix = "async:"

// ParseUpdate returns the update with that name. The error lists the valid names.
func ParseUpdate(s string) (Update, error) {
	u := Update(s)
	if u == EveryStep || u == PostHoc {
		return u, nil
	}
	text, ok := strings.CutPrefix(s, asyncPrefix)
	if !ok {
		return "", fmt.Errorf("unknown statistics update %q, want step, posthoc or async:S with S steps", s)
	}
	if n, err := strconv.Atoi(text); err != nil || n < 0 || n > maxSpan || text != strconv.Itoa(n) {
		return "", fmt.Errorf("statistics update %q: want async:S with S from 0 to %d", s, maxSpan)
	}
	return u, nil
}

// Span returns S of "async:S"; ok is false for the other updates.
func (u Update) Span() (span int, ok bool) {
	text, ok := strings.CutPrefix(string(u), asyncPrefix)
	if !ok {
		return 0, false
	}
	span, err := strconv.Atoi(text)
	return span, err == nil
}
