package store

import (
	"io/fs"
	"testing"
)

func FuzzRepository(f *testing.F) {
	f.Add([]byte(`{"sha":"c0ffee12c0ffee12c0ffee12c0ffee12c0ffee12","siblings":[{"rfilename":"a/b"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, names, err := parseRepository(b)
		for _, name := range names {
			if err == nil && !fs.ValidPath(name) {
				t.Errorf("name %q leads out of the repository", name)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"layers":[{"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		layers, err := parseManifest(b)
		for name := range layers {
			if err == nil && !fs.ValidPath(name) {
				t.Errorf("name %q leads out of the artifact", name)
			}
		}
	})
}

func FuzzURL(f *testing.F) {
	for _, text := range []string{"https://u:p@h/a?b", "hf:o/n@r/f", "s3://b/k", "oci://r/n:t#f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if name := fileName(Redact(text)); !fs.ValidPath(name) {
			t.Errorf("the file of %q is %q", text, name)
		}
		if file, err := parseHub(text); err == nil && file.path != "" && !fs.ValidPath(file.path) {
			t.Errorf("%q has the path %q", text, file.path)
		}
	})
}
