package models

import (
	"fmt"
	"strings"
)

// ClassList counts classes and names the first of them: "2 (cat, dog)".
func ClassList(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%d (%s, ...)", len(names), strings.Join(names[:most], ", "))
	}
	return fmt.Sprintf("%d (%s)", len(names), strings.Join(names, ", "))
}
