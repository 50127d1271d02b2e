package regular

import (
	"fmt"
	"os"

	"github.com/bnctl/bnctl/problem"
)

// NotInput rejects writing over a file that is also an input. The error is a
// *problem.Error.
func NotInput(output string, inputs ...string) error {
	for _, input := range inputs {
		if RemoteOf(output) != nil && input == output {
			return problem.New("", "", fmt.Sprintf("{output-file} %s is also the input, which would be lost", output),
				"give the result another name")
		}
	}
	there, err := os.Stat(output)
	if err != nil {
		return nil // a new file
	}
	for _, input := range inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(there, read) {
			return problem.New("", "", fmt.Sprintf("{output-file} %s is the input %s, which would be lost", output,
				input), "give the result another name")
		}
	}
	return nil
}
