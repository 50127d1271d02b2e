package commandline

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// Shapes reads a flag with the shape of a single input, "3,224,224", or with the name and the shape of each
// of several inputs, "image=3,224,224,state=64". An input without a shape, "rate=", is a scalar.
func Shapes(c *cli.Context, flag string) (shape []int, named map[string][]int, err error) {
	text := c.String(flag)
	if !c.IsSet(flag) {
		return nil, nil, nil
	}
	name := ""
	for word := range strings.SplitSeq(text, ",") {
		if i := strings.LastIndexByte(word, '='); i > 0 {
			if name == "" && shape != nil {
				break // these numbers precede the first name
			}
			if named == nil {
				named = map[string][]int{}
			}
			name, word = word[:i], word[i+1:]
			if _, twice := named[name]; twice {
				return nil, nil, Misuse("--%s %.80q names input %.80q twice", flag, text, name)
			}
			if named[name] = []int{}; word == "" {
				continue
			}
		}
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 1<<20 {
			return nil, nil, Misuse("--%s %.80q: %.40q is no length of one sample: want lengths as in "+
				"--input 3,224,224", flag, text, word)
		}
		if name == "" {
			shape = append(shape, n)
		} else {
			named[name] = append(named[name], n)
		}
	}
	if shape != nil && named != nil || strings.Contains(text, "=") && named == nil {
		return nil, nil, Misuse("--%s %.80q: want lengths, or a name before the lengths of each input", flag, text)
	}
	return shape, named, nil
}
