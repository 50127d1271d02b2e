package models

import (
	"fmt"
	"strings"
)

// ClassList returns the number of classes and the names of the first ones:
// "2 (cat, dog)".
func ClassList(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%d (%s, ...)", len(names), strings.Join(names[:most], ", "))
	}
	return fmt.Sprintf("%d (%s)", len(names), strings.Join(names, ", "))
}
