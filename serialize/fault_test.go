package serialize

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// A file that is cut short while it is read causes an error, and does not end the process.
func TestFileIsCutShort(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are copied here")
	}
	path := written(t, make([]byte, 3*4096))
	m, err := tensor.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if err := attended(func() error { sumOf(m.Bytes); return nil }); !errors.Is(err, errShrunk) {
		t.Errorf("%v, want %v", err, errShrunk)
	}
	if err := attended(func() error { sumOf(m.Bytes[:4096]); return nil }); err != nil {
		t.Errorf("what is left: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic of another reason is lost")
		}
	}()
	_ = attended(func() error { panic("another") })
}
