package problem

import (
	"fmt"
	"strings"
)

// Unreadable lists the inputs that could not be read, after all were tried; nil if there are none.
func Unreadable(bad []error, of int) error {
	if len(bad) == 0 {
		return nil
	}
	lines := make([]string, len(bad))
	for i, err := range bad {
		lines[i] = "\n   " + err.Error()
	}
	return fmt.Errorf("%d of %s cannot be read:%s", len(bad), Counted(of, "input"), strings.Join(lines, ""))
}
