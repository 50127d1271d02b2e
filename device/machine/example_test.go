package machine_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/device/machine"
)

// A host and a machine get certificates of one authority.
func ExampleMakeKeys() {
	folder, err := os.MkdirTemp("", "keys")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	made, err := machine.MakeKeys(folder, 90)
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range made {
		fmt.Println(filepath.Base(path))
	}
	side, err := machine.Open(filepath.Join(folder, "host"), machine.Host)
	fmt.Println(side != nil, err)
	// Output:
	// authority
	// host
	// device
	// true <nil>
}
