package repository_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/server/internal/repository"
)

// Find the highest version of each model of a folder. The second scan finds the file
// unchanged.
func ExampleWatch() {
	folder, err := os.MkdirTemp("", "models")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	for _, version := range []string{"1", "2"} {
		path := filepath.Join(folder, "digits", version)
		if err := os.MkdirAll(path, 0o777); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "model.bnm"), []byte("a model"), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	w := repository.NewWatch([]string{folder}, repository.Policy{})
	for range 2 {
		files, still, err := w.Scan()
		fmt.Println(len(files), files[0].Name, files[0].Version, still, err)
	}
	// Output:
	// 1 digits 2 [false] <nil>
	// 1 digits 2 [true] <nil>
}
