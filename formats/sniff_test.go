package formats

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRefusesByName(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"a.h5", "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12345\n", "Git LFS pointer"},
		{"b.params", "\x12\x01\x00\x00\x00\x00\x00\x00\x00\x00", "MXNet .params"},
		{"c.t7", "\x04\x00\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00V 1\x0d", "Torch7 .t7"},
		{"d.t7", "4\n1\n3\nV 1\n13\nnn.Sequential\n", "Torch7 .t7 (ASCII)"},
		{"e.tflite", "\x1c\x00\x00\x00TFL3\x00\x00", "TensorFlow Lite"},
		{"ms.ckpt", "\n\xb7\x80b\n\x0ddense0.weight\x12\x93\x80b", "a MindSpore checkpoint"},
		{"ms2.ckpt", "\n\xb7\x80b\n\x0ddense0.we\x00ght\x12\x93\x80b", "not a format that bnctl knows"},
		{"f.bin", "abc", "not a format that bnctl knows"},
		{"g.pkl", "\x80\x04}.", "a plain pickle"},
		{"i.tflite", "\x1c\x00\x00\x00TFL3", "TensorFlow Lite"},
		{"h.empty", "", "not a format that bnctl knows"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRefusesFolders(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{".metadata __0_0.distcp", "sharded PyTorch checkpoint"},
		{"mp_rank_00_model_states.pt", "DeepSpeed checkpoint"},
		{".metadata", "holds no checkpoint"},
		{"readme.txt", "holds no checkpoint"}, {"saved_model.pb", "its weights are constants of its graph"},
	} {
		dir := t.TempDir()
		for _, name := range strings.Fields(c.files) {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.files, err, c.want)
		}
	}
}

// TestFolders opens the one checkpoint of TensorFlow in a folder.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"replicas.index", "replicas.data-00000-of-00002", "replicas.data-00001-of-00002"} {
		b, err := os.ReadFile(filepath.Join("tensorflow/testdata/cases", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, err := Open(filepath.Join(dir, "replicas.index"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	f, err := Open(dir, Options{})
	if err != nil || len(f.Tensors) != len(whole.Tensors) {
		t.Fatalf("%v, %v", f, err)
	}
	f.Close()
	if err := os.WriteFile(filepath.Join(dir, "other.index"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "holds 2 checkpoints") {
		t.Errorf("two checkpoints: %v", err)
	}
}

// TestHeadersOfAnyLength: a safetensors file begins with the length of its header. These
// bytes may be the start of another format: 640 is \x80\x02, a pickle; 274 is MXNet;
// 0x120108 is a SavedModel.
func TestHeadersOfAnyLength(t *testing.T) {
	lengths := []int{0x120108, 1<<16 | 0x0280}
	for n := 80; n < 1600; n++ {
		lengths = append(lengths, n)
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	for _, n := range lengths {
		header := []byte(`{"fc.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`)
		header = append(header, bytes.Repeat([]byte(" "), n-len(header)-1)...)
		file := append(binary.LittleEndian.AppendUint64(nil, uint64(n)), append(header, '}')...)
		if err := os.WriteFile(path, append(file, make([]byte, 8)...), 0o600); err != nil {
			t.Fatal(err)
		}
		if name, _, err := recognise(path); name != "safetensors" {
			t.Errorf("a header of %d bytes (%#x): %q, %v", n, n, name, err)
		}
	}
}
