package serialize

import (
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// large returns resnet18 (47 MB) and its size in bytes.
func large(b *testing.B) (*models.Model, int64) {
	m, err := models.Build("resnet18", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		b.Fatal(err)
	}
	return m, int64(m.Summary().Bytes)
}

func BenchmarkWriteModel(b *testing.B) {
	m, size := large(b)
	path := filepath.Join(b.TempDir(), "m.bnm")
	b.SetBytes(size)
	for b.Loop() {
		if _, err := WriteModel(path, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	m, size := large(b)
	path := filepath.Join(b.TempDir(), "m.bnm")
	if _, err := WriteModel(path, m); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		f, err := Open(path)
		if err == nil {
			_, err = f.Model()
		}
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
