package parallel

import (
	"fmt"
	"strconv"
	"strings"
)

// Sync says how the weights of the replicas are kept together: "allreduce",
// "template" or "async:S" with a span of S steps.
type Sync string

// The ways without a span.
const (
	AllReduce Sync = "allreduce" // every device sums the gradients and updates for itself
	Template  Sync = "template"  // one device updates, the others get its weights; the same bits
)

const (
	asyncPrefix = "async:"
	maxSpan     = 64 // bounds the memory that waiting gradients take
)

// ParseSync returns the way with that name.
func ParseSync(s string) (Sync, error) {
	w := Sync(s)
	if w == AllReduce || w == Template {
		return w, nil
	}
	text, ok := strings.CutPrefix(s, asyncPrefix)
	if !ok {
		return "", fmt.Errorf("unknown weight synchronisation %q, "+
			"want allreduce, template or async:S with S steps", s)
	}
	if n, err := strconv.Atoi(text); err != nil || n < 0 || n > maxSpan || text != strconv.Itoa(n) {
		return "", fmt.Errorf("weight synchronisation %q: want async:S with S from 0 to %d", s, maxSpan)
	}
	return w, nil
}

// Span returns S of "async:S"; ok is false for the other ways.
func (w Sync) Span() (span int, ok bool) {
	text, ok := strings.CutPrefix(string(w), asyncPrefix)
	if !ok {
		return 0, false
	}
	span, err := strconv.Atoi(text)
	return span, err == nil
}
