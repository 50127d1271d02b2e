package house

import (
	"log"
	"os"
	"testing"
)

// TestMain runs the tests in the root of the module: their paths are relative to it.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}
