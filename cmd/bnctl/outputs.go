package main

import "os"

// notInput refuses to write over a file that is read.
func notInput(output string, inputs ...string) error {
	there, err := os.Stat(output)
	if err != nil {
		return nil // a new file
	}
	for _, input := range inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(there, read) {
			return misadvise("give the result another name", "-o %s is the input %s, which would be lost",
				output, input)
		}
	}
	return nil
}
