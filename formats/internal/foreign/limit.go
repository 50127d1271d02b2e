package foreign

import "fmt"

// Limits on the contents of a file, in addition to its size.
const (
	// MaxTensors limits the tensors of one file.
	MaxTensors = 1 << 15
	// MaxName is the longest name of a tensor, in bytes.
	MaxName = 1024
	// Slack is the number of bytes that the tensors of a file may have in addition to the size
	// of the file. They may exceed it because views repeat stored elements.
	Slack = 16 << 20
)

// CheckNames reports two tensors of one name, and names that are too long.
func CheckNames(tensors []Tensor) error {
	seen := make(map[string]bool, len(tensors))
	for _, t := range tensors {
		if t.Name == "" || len(t.Name) > MaxName {
			return fmt.Errorf("a name of %d bytes; want 1 to %d", len(t.Name), MaxName)
		}
		if seen[t.Name] {
			return fmt.Errorf("two tensors are called %q", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// CheckTensors checks the tensors of a file of size bytes against the limits: their number,
// the length of names, duplicate names, and the sum of their sizes, which views of shared
// storages could make arbitrarily large.
func CheckTensors(tensors []Tensor, size int64) error {
	if len(tensors) > MaxTensors {
		return fmt.Errorf("%d tensors; at most %d are supported", len(tensors), MaxTensors)
	}
	if err := CheckNames(tensors); err != nil {
		return err
	}
	left := size + Slack
	for _, t := range tensors {
		if left -= int64(t.Size()); left < 0 {
			return fmt.Errorf("%v: the tensors up to here take more than the file's %d bytes and %d more",
				t, size, Slack)
		}
	}
	return nil
}
