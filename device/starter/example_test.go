package starter_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/device/starter"
)

// Write the beginning of a plugin in Go, as bnctl plugin init does.
func ExampleWrite() {
	folder, err := os.MkdirTemp("", "plugin")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path, err := starter.Write(folder, "mine")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(filepath.Dir(path)), filepath.Base(path))
	// Output: bnctl-device-mine main.go
}
