package inprocess_test

import (
	"os"
	"testing"

	"github.com/bnctl/bnctl/fleet"
)

// TestMain serves the CPU devices that the tests compare with. Package inprocess never starts one.
func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}
