package chart

import (
	"fmt"
	"math"
	"strings"
)

// inWords describes a chart for readers who cannot see it.
func (c *Chart) inWords() string {
	text := []string{c.Title + " by " + c.X}
	for _, k := range c.Curves {
		if len(k.Y) == 0 {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range k.Y {
			if Finite(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		if low > high {
			text = append(text, k.Name+" has no number")
			continue
		}
		text = append(text, strings.TrimSpace(fmt.Sprintf("%s from %s to %s, last %s", k.Name, c.number(low),
			c.number(high),
			c.number(k.Y[len(k.Y)-1]))))
	}
	return strings.Join(text, "; ")
}
