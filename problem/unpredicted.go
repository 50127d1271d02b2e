package problem

import (
	"fmt"
	"strings"
)

// Unpredicted lists the inputs without a prediction, because they cannot be read or the model's
// outputs for them are not finite. It is called after all inputs were tried, and returns nil for an
// empty list.
func Unpredicted(bad []error, of int) error {
	if len(bad) == 0 {
		return nil
	}
	lines := make([]string, len(bad))
	for i, err := range bad {
		lines[i] = "\n   " + err.Error()
	}
	return fmt.Errorf("%d of %s cannot be predicted:%s", len(bad), Plural(of, "input"), strings.Join(lines, ""))
}
