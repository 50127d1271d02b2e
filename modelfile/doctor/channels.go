package doctor

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// ChannelList names the first channels of a finding: " channels 3, 7"; "" for an empty
// list.
func ChannelList(channels []int) string {
	const most = 6
	switch n := len(channels); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf(" channel %d", channels[0])
	case n > most:
		return fmt.Sprintf(" %s (%s, ...)", problem.Plural(n, "channel"), joined(channels[:most]))
	}
	return " channels " + joined(channels)
}

func joined(numbers []int) string {
	var s []string
	for _, n := range numbers {
		s = append(s, fmt.Sprint(n))
	}
	return strings.Join(s, ", ")
}
