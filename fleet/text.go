package fleet

import (
	"fmt"
	"strings"
)

// Memory writes the memory of a device: "60.1 of 62.8 GiB".
func (d Description) Memory() string {
	if d.MemoryTotal == 0 {
		return "-"
	}
	const gib = 1 << 30
	return fmt.Sprintf("%.1f of %.1f GiB", float64(d.MemoryFree)/gib, float64(d.MemoryTotal)/gib)
}

// Lines describes a device, one property on each line.
func (d Description) Lines() []string {
	var lines []string
	for _, row := range []struct{ name, value string }{
		{"name", d.Name}, {"description", d.Description}, {"id", d.ID}, {"memory", d.Memory()},
		{"plugin", fmt.Sprintf("%s %s, protocol %d", d.Plugin, d.Version, d.Protocol)},
		{"kernels", d.Kernels}, {"classes", strings.Join(d.Classes, ", ")},
		{"features", strings.Join(d.Features, ", ")},
		{"precisions", strings.Join(d.Precisions, ", ")}, {"levels", strings.Join(d.Levels, ", ")},
		{"operations", fmt.Sprintf("%d: %s", len(d.Ops), strings.Join(d.Ops, " "))},
	} {
		if row.value != "" {
			lines = append(lines, fmt.Sprintf("%-12s  %s", row.name, row.value))
		}
	}
	return lines
}
