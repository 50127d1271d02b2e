package formats

import (
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

// TestPeerTorchvision exports models of the zoo, loads the files with
// torchvision's own classes and compares the outputs. Debian's python3-torch
// and python3-torchvision are wanted.
func TestPeerTorchvision(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("peers are tested by make test-peers")
	}
	computed := []string{"resnet20", "resnet18", "resnet50", "mobilenetv2"} // the reference device is slow
	for _, a := range models.Architectures() {
		if a.Input.Channels != 3 {
			continue // no class of torchvision, nor a published one
		}
		const side = 32
		size := models.Size{Height: side, Width: side, Channels: 3}
		if a.Name == "vgg16-bn" {
			size = a.Input // its dense layers want this one
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
		got, err := torchvision(t, m, pixels, side, compute)
		if err == nil && compute {
			err = sameNumbers(outputs(t, m), got)
		}
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

// torchvision loads an export of m and returns what it computes for two images.
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

func sameNumbers(got []float64, want []string) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	size, worst := 0.0, 0.0
	for i, s := range want {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return err
		}
		size, worst = max(size, math.Abs(v)), max(worst, math.Abs(got[i]-v))
	}
	if !(worst <= 1e-5*size) {
		return fmt.Errorf("outputs up to %g differ by up to %g", size, worst)
	}
	return nil
}
