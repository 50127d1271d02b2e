package report_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/train/report"
)

// The page of a run that was told to write its events to a folder.
func ExampleWrite() {
	folder, err := os.MkdirTemp("", "logs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	log := `{"event":"epoch","epoch":1,"train_loss":1.18,"train_accuracy":0.63}` + "\n"
	if err := os.WriteFile(filepath.Join(folder, "metrics.jsonl"), []byte(log), 0o666); err != nil {
		panic(err)
	}
	written, err := report.Write("", folder)
	if err != nil {
		panic(err)
	}
	for _, path := range written {
		fmt.Println(filepath.Base(path))
	}
	// Output:
	// report.html
	// curves.svg
}
