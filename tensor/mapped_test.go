package tensor

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// mapped maps a file of n bytes, 0 1 2 ...
func mapped(t *testing.T, n int) *Mapped {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMappedAt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are copied here")
	}
	a, b := mapped(t, 3*4096), mapped(t, 100)
	defer a.Close()
	for _, test := range []struct {
		name   string
		view   []byte
		want   *Mapped
		offset int64
	}{
		{"all", a.Bytes, a, 0},
		{"part", a.Bytes[4096:5000], a, 4096},
		{"end", a.Bytes[3*4096-1:], a, 3*4096 - 1},
		{"another", b.Bytes[7:9], b, 7},
		{"nothing", a.Bytes[:0], nil, 0},
		{"memory", make([]byte, 4096), nil, 0},
	} {
		if m, offset := MappedAt(test.view); m != test.want || offset != test.offset {
			t.Errorf("%s: MappedAt = %p, %d, want %p, %d", test.name, m, offset, test.want, test.offset)
		}
	}
	view := b.Bytes[7:9]
	b.Retain()
	for i, want := range []*Mapped{b, nil} { // first one user is left, then no user
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if m, _ := MappedAt(view); m != want {
			t.Errorf("after Close number %d: MappedAt = %p, want %p", i+1, m, want)
		}
	}
}

// TestMappedFile finds a mapped file by its bytes, drops its memory, and changes the file.
func TestMappedFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are copied here")
	}
	m := mapped(t, 2*4096)
	defer m.Close()
	name := m.file.Name()
	if same, err := Map(name); same != m || err != nil || m.Close() != nil {
		t.Errorf("mapped again it is %p, want %p: %v", same, m, err)
	}
	if err := os.Rename(name, name+".moved"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(m.Path())
	if err != nil || !bytes.Equal(b, m.Bytes) {
		t.Errorf("at its path there are %d bytes, other than its own: %v", len(b), err)
	}
	m.DropPages(m.Bytes[100:5000])
	if !bytes.Equal(b, m.Bytes) {
		t.Error("after Drop the bytes are others")
	}
	if m.Changed() {
		t.Error("it has changed although nobody wrote to it")
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name+".moved", long, long); err != nil {
		t.Fatal(err)
	}
	other, err := Map(m.Path())
	if err != nil || other == m || !m.Changed() {
		t.Errorf("a change went unnoticed: %v", err)
	}
	other.Close()
}

func TestMapRefuses(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "nothing")} {
		if m, err := Map(path); err == nil {
			t.Errorf("%s was mapped: %d bytes", path, len(m.Bytes))
		}
	}
	if m := mapped(t, 0); len(m.Bytes) != 0 || m.Close() != nil {
		t.Error("an empty file is not empty")
	}
}
