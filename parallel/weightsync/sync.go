package weightsync

import (
	"fmt"
	"strconv"
	"strings"
)

// Sync is the method that synchronises the weights of the replicas: "allreduce",
// "template", "periodic:K" with K steps between averages, or "async:S" with a span of S
// steps.
type Sync string

// These methods do not have a span.
const (
	AllReduce Sync = "allreduce" // every device sums the gradients and updates for itself
	Template  Sync = "template"  // one device updates and the others get its weights; same bits as AllReduce
)

const (
	asyncPrefix    = "async:"
	maxSpan        = 64 // limits the memory of waiting gradients
	periodicPrefix = "periodic:"
	maxPeriod      = 1 << 20
)

// ParseSync returns the method with that name.
func ParseSync(s string) (Sync, error) {
	w := Sync(s)
	if w == AllReduce || w == Template {
		return w, nil
	}
	for _, f := range []struct {
		prefix, form string
		low, high    int
	}{{periodicPrefix, "periodic:K with K", 1, maxPeriod}, {asyncPrefix, "async:S with S", 0, maxSpan}} {
		text, ok := strings.CutPrefix(s, f.prefix)
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(text); err != nil || n < f.low || n > f.high || text != strconv.Itoa(n) {
			return "", fmt.Errorf("weight synchronisation %q: want %s from %d to %d", s, f.form, f.low, f.high)
		}
		return w, nil
	}
	return "", fmt.Errorf("unknown weight synchronisation %q, "+
		"want allreduce, template, periodic:K or async:S with K or S steps", s)
}

// Span returns S of "async:S"; ok is false for the other methods.
func (w Sync) Span() (span int, ok bool) { return w.number(asyncPrefix) }

// Period returns K of "periodic:K"; ok is false for the other methods.
func (w Sync) Period() (steps int, ok bool) { return w.number(periodicPrefix) }

func (w Sync) number(prefix string) (int, bool) {
	text, ok := strings.CutPrefix(string(w), prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
