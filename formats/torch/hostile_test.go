package torch

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// readAll reads a file and all its tensors.
func readAll(b []byte) error {
	f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
	if err != nil {
		return err
	}
	for _, t := range f.Tensors {
		if _, err := t.Load(); err != nil {
			return err
		}
	}
	return nil
}

// TestRefusesHostile reads every file of testdata/hostile; refusals.txt there
// has the message for each.
func TestRefusesHostile(t *testing.T) {
	text, err := os.ReadFile("testdata/hostile/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	wanted := 0
	for line := range strings.Lines(string(text)) {
		wanted++
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		b, err := os.ReadFile(filepath.Join("testdata/hostile", name+".pth"))
		if err != nil {
			t.Fatal(err)
		}
		got := "it was read"
		if err := readAll(b); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if files, _ := filepath.Glob("testdata/hostile/*.pth"); len(files) != wanted {
		t.Errorf("%d files and %d messages: run make.py", len(files), wanted)
	}
	if _, err := os.Stat("/tmp/bnctl-was-here"); err == nil {
		t.Error("code in a file was run")
	}
}

// TestBombs reads pickles in which every byte makes an object: reading must stop when the
// memory that their size justifies is used up.
func TestBombs(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // live memory with little garbage
	for _, unit := range []string{"]", "}", ")", "N", "(", "K\x01", "]\x94", "h\x00", "}NNs", "]q\x07a", "(t",
		"C\x00", "U\x01a", "2", "S''\n", "V\n", "I1\n", "L1\n", "(NoN"} {
		const size = 2 << 20
		var b bytes.Buffer
		b.WriteString("\x80\x02")
		b.Write(legacyMagic) // a legacy stream with the bomb as its first pickle
		b.WriteString("]\x94" + strings.Repeat(unit, size/len(unit)))
		debug.FreeOSMemory()
		before := resident()
		err := readAll(b.Bytes())
		used := resident() - before
		if err == nil || !strings.Contains(err.Error(), "pickle at offset") {
			t.Errorf("%q: %v", unit, err)
		}
		if most := int64(2*size + 64<<20); used > most {
			t.Errorf("%q: %d bytes of memory, want at most %d", unit, used, most)
		}
	}
}

// resident returns the memory of the process in bytes. It includes memory that the process
// has freed but not yet returned, so that it is near the peak.
func resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/hostile/*.pth", "testdata/cases/*"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = readAll(b) // must return, with any result
	})
}
