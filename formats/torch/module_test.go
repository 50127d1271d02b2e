package torch

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestModules reads whole modules that were pickled: the result has the contents, names and
// order of state_dict() in PyTorch.
func TestModules(t *testing.T) {
	for head, want := range goldens(t, "modules.txt") {
		name, key, _ := strings.Cut(head, " ")
		o := Options{}
		if key == "ema" {
			o.EMA = true
		}
		f, err := Read(filepath.Join("testdata/modules", name), o)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := lines(t, f); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if got := strings.TrimPrefix(key, "."); f.Key != got {
			t.Errorf("%s: the key is %q, want %q", name, f.Key, got)
		}
		if len(f.Findings) == 0 || !strings.Contains(f.Findings[0].Text, "its code was neither read nor run") {
			t.Errorf("%s: findings %v", name, f.Findings)
		}
		f.Close()
	}
}

// TestModuleReport checks that the report names the class, and the values outside the
// module.
func TestModuleReport(t *testing.T) {
	for _, c := range []struct{ file, key, wrappers, left, findings string }{
		{"zip.pt", "", "[module layouts.Tiny]", "[]", "1"},
		{"odd.pth", "", "[module __main__.Odd]", "[]", "1"},
		{"odd.pth", "again", "[again module torch.nn.modules.linear.Linear]", "", "1"},
		{"spectral.pt", "", "[module torch.nn.modules.linear.Linear]", "[]", "2"},
		{"net.t7", "", "[net module torch.nn.parallel.data_parallel.DataParallel]", "[]", "1"},
		{"ultralytics_last.pt", "", "[model module ultralytics.nn.tasks.DetectionModel]",
			"[{ema average of the weights {ema} takes it 8 286} {optimizer state of the training 5 524}]", "1"},
		{"ultralytics_last.pt", "ema", "[ema module ultralytics.nn.tasks.DetectionModel]", "", "1"},
	} {
		f, err := Read("testdata/modules/"+c.file, Options{Key: c.key})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprint(f.Wrappers); got != c.wrappers {
			t.Errorf("%s: wrappers %s, want %s", c.file, got, c.wrappers)
		}
		if got := strings.ReplaceAll(fmt.Sprint(f.Left), "  ", " "); c.left != "" && got != c.left {
			t.Errorf("%s: left out %s, want %s", c.file, got, c.left)
		}
		if got := fmt.Sprint(len(f.Findings)); got != c.findings {
			t.Errorf("%s: findings %v, want %s", c.file, f.Findings, c.findings)
		}
		f.Close()
	}
}

// TestVariables reads parameters as PyTorch pickled them before 0.4.
func TestVariables(t *testing.T) {
	const parameter = "ctorch.nn.parameter\nParameter\n"
	storage := "(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"
	tensor := "ctorch._utils\n_rebuild_tensor\n(" + storage + "K\x00(K\x02t(K\x01ttR"
	for _, value := range []string{
		parameter + tensor + "\x85R(\x88\x89Ntb",       // class(data), state (requires_grad, volatile, hooks)
		parameter + ")\x81(" + tensor + "NN\x88\x89tb", // state (data, grad, hooks, requires_grad, volatile)
	} {
		b := archive(t, "\x80\x02}X\x08\x00\x00\x00a.weight"+value+"s.", make([]byte, 8))
		f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprint(f.Tensors); got != "[a.weight f32[2]]" {
			t.Errorf("tensors %s", got)
		}
	}
}

// archive returns a zip archive in the format of torch.save, with one storage.
func archive(t *testing.T, pickle string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range []struct {
		name    string
		content []byte
	}{{"a/data.pkl", []byte(pickle)}, {"a/data/0", data}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(m.content)
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
