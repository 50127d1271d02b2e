package keras

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// zipped makes an archive of uncompressed members. The arguments are the name and the
// content of each member in turn.
func zipped(t *testing.T, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: members[i], Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(members[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func content1(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestHostile reads files that only look like files of Keras. Package hdf5 tests faults
// inside HDF5.
func TestHostile(t *testing.T) {
	h5 := content1(t, "testdata/base.h5")
	config := functional("r", layerOf("Activation", "r", `"activation":"relu"`, "in"))
	big := "[" + strings.Repeat(" ", maxConfig) + "]"
	archived := zipped(t, memberConfig, config, memberWeights, h5)
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"nothing", nil, "not a file of Keras"},
		{"text", []byte("version https://git-lfs.github.com/spec/v1"), "not a file of Keras"},
		{"hdf5 of others", []byte(content1(t, "testdata/other.h5")),
			`not one of Keras: / holds ["images" "labels" "means" "stds"] and 1 more and no list layer_names`},
		{"empty zip", zipped(t), "not one of Keras"},
		{"no weights", zipped(t, memberConfig, config), "no model.weights.h5"},
		{"npz", zipped(t, memberConfig, config, memberArchived, ""), `"model.weights.npz" are not supported`},
		{"shards", zipped(t, memberConfig, config, "model.weights.json", ""),
			`"model.weights.json" are not supported`},
		{"large description", zipped(t, memberConfig, big, memberWeights, h5), "at most"},
		{"many tokens", zipped(t, memberConfig, "["+strings.Repeat("0,", maxTokens)+"0]", memberWeights, h5),
			"more than 262144 tokens"},
		{"weights twice", zipped(t, memberConfig, config, memberWeights, h5, memberWeights, h5),
			"occurs twice"},
		{"other weights", archived, `has no group "layers"`},
		{"wrong sum", bytes.Replace(archived, []byte("relu"), []byte("rely"), 1), "CRC-32"},
		{"bad metadata", zipped(t, memberMeta, `{"keras_version":3}`, memberConfig, config, memberWeights, h5),
			"metadata.json"},
		{"description cut", []byte(strings.Replace(h5, `"class_name"`, `"class_nam"}`, 1)), "model_config"},
		{"unknown weight", []byte(strings.Replace(h5, "dense_1/kernel:0", "dense_1/kernal:0", 1)),
			`no member "kernal:0"`},
		{"layer renamed", []byte(strings.ReplaceAll(h5, `"name": "dense_1"`, `"name": "dense_2"`)),
			"dense_1"},
		{"other kernel size", []byte(strings.Replace(h5, `"kernel_size": [3, 3]`, `"kernel_size": [1, 3]`, 1)),
			"has the shape [3 3 2 3], want [1 3 2 3]"},
		{"more weights", []byte(strings.Replace(h5, `"use_bias": true,`, `"use_bias":false,`, 1)),
			"has 2 weights in the file, its description asks for 1"},
	} {
		f, err := ReadFrom(bytes.NewReader(c.b), int64(len(c.b)), Options{})
		if err == nil {
			err = f.NoModel
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestHostileFiles reads the files of testdata/hostile. WANT there has the text of each
// refusal, by the reader or as the reason for not making a model.
func TestHostileFiles(t *testing.T) {
	n := 0
	for line := range strings.Lines(content1(t, "testdata/hostile/WANT")) {
		n++
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f, err := Read("testdata/hostile/"+name, Options{})
		if err == nil {
			err = f.NoModel
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
	if files, _ := filepath.Glob("testdata/hostile/*[5s]"); len(files) != n {
		t.Errorf("%d files and %d messages: run make.py", len(files), n)
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		want bool
	}{
		{"h5", []byte(content1(t, "testdata/base.h5")), true},
		{"archive", []byte(content1(t, "testdata/same-archive.keras")), true},
		{"another zip", zipped(t, "archive/data.pkl", ""), false},
		{"nothing", nil, false},
	} {
		if got := Sniff(c.b); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"base.h5", "inside-twice.h5", "same-archive.keras", "inside-windows.keras", "same-multi-gpu-2.h5",
		"same-split-names.h5", "weights.h5"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	hostile, _ := filepath.Glob("testdata/hostile/*[5s]")
	for _, name := range hostile {
		f.Add([]byte(content1(f, name)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
		if err != nil {
			return
		}
		if file.Model != nil && file.Model.Check() != nil {
			t.Error("a model that is not valid was read")
		}
		for _, x := range file.Tensors {
			if _, err := x.Load(); err != nil {
				t.Errorf("%v was listed and can't be read: %v", x, err)
			}
		}
	})
}
