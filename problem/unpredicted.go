package problem

import (
	"fmt"
	"strings"
)

// Unpredicted lists the inputs without a prediction, because they cannot be read or the model's
// outputs for them are not finite. It is called after all inputs were tried, and returns nil for an
// empty list.
func Unpredicted(failed []error, total int) error {
	if len(failed) == 0 {
		return nil
	}
	lines := make([]string, len(failed))
	for i, err := range failed {
		lines[i] = "\n   " + err.Error()
	}
	return fmt.Errorf("%d of %s cannot be predicted:%s", len(failed), Plural(total, "input"),
		strings.Join(lines, ""))
}
