package formats

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// TestPeerTorchvision exports models of the zoo, loads the files with torchvision's classes
// and compares the outputs. It needs Debian's python3-torch and python3-torchvision.
func TestPeerTorchvision(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("peers are tested by make test-peers")
	}
	computed := []string{"resnet20", "resnet18", "resnet50", "mobilenetv2",
		"lraspp-mobilenetv3-large"} // the reference device is slow
	for _, a := range models.Architectures() {
		if !inPeers(a) {
			continue
		}
		const side = 32
		size := models.Size{Height: side, Width: side, Channels: 3}
		if wantsItsSize(a) {
			size = a.Input
		}
		m, err := models.Build(a.Name, models.Options{Classes: 7, Input: size})
		if err != nil {
			t.Fatal(err)
		}
		vary(m)
		pixels := make([]byte, 2*side*side*3)
		for i := range pixels {
			pixels[i] = byte(i * 37) // as outputs makes them
		}
		compute := slices.Contains(computed, a.Name)
		got, err := numbersOf(torchvision(t, m, pixels, side, compute))
		if err == nil && compute {
			err = sameNumbers(outputs(t, m), got)
		}
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

// TestPeerZoo exports every model of the zoo to PyTorch and to ONNX. torchvision's classes,
// in f64, and ONNX Runtime must compute the same from the two files, and ONNX's checker
// must accept the second one. Models without a class in torchvision are compared with the
// reference device.
func TestPeerZoo(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("peers are tested by make test-peers")
	}
	for _, a := range models.Architectures() {
		size := a.Input
		if a.Input.Height > 64 && !wantsItsSize(a) {
			size = models.Size{Height: 64, Width: 64, Channels: 3}
		}
		m, err := models.Build(a.Name, models.Options{Classes: 7, Input: size})
		if err != nil {
			t.Fatal(err)
		}
		vary(m)
		pixels := make([]byte, 2*size.Height*size.Width*size.Channels)
		for i := range pixels {
			pixels[i] = byte(i * 37) // as outputs makes them
		}
		var want []float64
		if inPeers(a) {
			want, err = numbersOf(torchvision(t, m, pixels, size.Height, true))
		} else {
			want = outputs(t, m)
		}
		if err != nil {
			t.Errorf("%s: PyTorch: %v", a.Name, err)
			continue
		}
		got, err := onnxRuntime(t, m, pixels, size)
		if err == nil {
			err = sameNumbers(got, want)
		}
		if err != nil {
			t.Errorf("%s: ONNX Runtime: %v", a.Name, err)
		}
	}
}

// wantsItsSize reports whether a only accepts pictures of its size, because of dense
// layers, embeddings of positions, or many convolutions without padding.
func wantsItsSize(a models.Architecture) bool {
	return a.Family == "vgg" || a.Name == "vit-b-16" || a.Name == "inception-v3"
}

// inPeers reports whether torchvision has a class for a, or peers.py has one that was
// published.
func inPeers(a models.Architecture) bool {
	return a.Input.Channels == 3 && a.Name != "unet-bn" && a.Name != "espnet-c"
}

// numbersOf parses the output of a peer.
func numbersOf(text []string, err error) ([]float64, error) {
	var out []float64
	for _, s := range text {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, err
}

// onnxRuntime checks an export of m and returns its results for two images.
func onnxRuntime(t *testing.T, m *models.Model, pixels []byte, size models.Size) ([]float64, error) {
	t.Helper()
	dir := t.TempDir()
	model, images := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "x.bin")
	defer os.Remove(model)
	if _, err := Export(model, m, ExportOptions{}); err != nil {
		return nil, err
	}
	if err := os.WriteFile(images, pixels, 0o600); err != nil {
		return nil, err
	}
	check := "import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True)"
	if text, err := exec.Command("/usr/bin/python3", "-c", check, model).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("onnx.checker: %w\n%s", err, text)
	}
	dims := fmt.Sprintf("2,%d,%d,%d", size.Height, size.Width, size.Channels)
	cmd := exec.Command("node", "onnx/testdata/ort.js", model, "uint8", dims, images)
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var outputs map[string]struct{ Data []byte }
	if err := json.Unmarshal(answer, &outputs); err != nil {
		return nil, err
	}
	var out []float64
	for b := outputs["logits"].Data; len(b) > 0; b = b[4:] {
		out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	}
	return out, nil
}

// torchvision loads an export of m and returns its results for two images.
func torchvision(t *testing.T, m *models.Model, pixels []byte, side int, compute bool) ([]string, error) {
	t.Helper()
	dir := t.TempDir()
	weights, images := filepath.Join(dir, "m.pth"), filepath.Join(dir, "x.bin")
	if _, err := Export(weights, m, ExportOptions{}); err != nil {
		return nil, err
	}
	if err := os.WriteFile(images, pixels, 0o600); err != nil {
		return nil, err
	}
	args := []string{"testdata/peers.py", m.Architecture, "7", weights}
	if compute {
		args = append(args, images, strconv.Itoa(side))
	}
	text, err := exec.Command("/usr/bin/python3", args...).CombinedOutput()
	os.Remove(weights)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return strings.Fields(string(text)), nil
}

// sameNumbers compares outputs, relative to the largest.
func sameNumbers(got, want []float64) error {
	if len(got) != len(want) || len(got) == 0 {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	size, worst := 0.0, 0.0
	for i, v := range want {
		size, worst = max(size, math.Abs(v)), max(worst, math.Abs(got[i]-v))
	}
	if !(worst <= 1e-5*size) {
		return fmt.Errorf("outputs up to %g differ by up to %g", size, worst)
	}
	return nil
}
