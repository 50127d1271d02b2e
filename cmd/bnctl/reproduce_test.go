package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestReproduceNamesTheEpoch checks that a device that errs in one bit of the second epoch is found, and
// the epoch named. The device is scripts/sickdevice.
func TestReproduceNamesTheEpoch(t *testing.T) {
	folder := t.TempDir()
	plugin, model := filepath.Join(folder, "bnctl-device-sick"), filepath.Join(folder, "m.bnm")
	build := exec.Command("go", "build", "-o", plugin, "../../scripts/sickdevice")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	says(t, exitDone, "", "train", "--quiet", "--model", "mlp-bn", "--data", "glyphs:16", "--val", "glyphs:8",
		"--batch", "8", "--replicas", "2", "--epochs", "3", "--devices", "ref", "-o", model)
	t.Setenv("BNCTL_SICK_KERNELS", "ref")
	on := []string{"reproduce", model, "--quiet", "--devices", "sick", "--device-plugin", plugin,
		"--allow-unlocked"}
	says(t, exitDone, "", on...)
	t.Setenv("BNCTL_SICK", "one bit")
	says(t, exitSick, "differs: the first epoch with another state or evaluation is 2", on...)
	if err := os.Remove(filepath.Join(folder, "m.chain.jsonl")); err != nil {
		t.Fatal(err)
	}
	says(t, exitSick, "m.bnm differs; its chain is not there, which would name the epoch", on...)
}

// TestReproduceRefusesOtherData checks that a changed label and a truncated picture are found before
// anything is trained.
func TestReproduceRefusesOtherData(t *testing.T) {
	folder := t.TempDir()
	pictures, model := filepath.Join(folder, "pictures"), filepath.Join(folder, "m.bnm")
	for i := range 8 {
		drawPicture(t, filepath.Join(pictures, string(rune('a'+i%2)), strconv.Itoa(i)+".png"), uint8(30*i))
	}
	says(t, exitDone, "", "train", "--quiet", "--model", "mlp-bn", "--data", "folder:"+pictures, "--batch", "4",
		"--replicas", "2", "--epochs", "1", "--devices", "ref", "-o", model)
	again := []string{"reproduce", model, "--quiet", "--devices", "ref"}
	says(t, exitDone, "", again...)

	one, other := filepath.Join(pictures, "a", "0.png"), filepath.Join(pictures, "b", "0.png")
	if err := os.Rename(one, other); err != nil {
		t.Fatal(err)
	}
	const refused = "the inputs are not those of "
	says(t, exitMisused, refused, again...)
	if err := os.Rename(other, one); err != nil {
		t.Fatal(err)
	}
	says(t, exitDone, "", again...)
	if err := os.Truncate(one, 60); err != nil {
		t.Fatal(err)
	}
	says(t, exitMisused, refused, again...)
	if err := os.RemoveAll(pictures); err != nil {
		t.Fatal(err)
	}
	says(t, exitMisused, refused, again...)
	if err := os.Remove(filepath.Join(folder, "m.bnc")); err != nil { // which knows where they were
		t.Fatal(err)
	}
	says(t, exitMisused, "the template does not know where its data is", again...)
}

// drawPicture writes a small picture.
func drawPicture(t *testing.T, path string, grey uint8) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	picture := image.NewGray(image.Rect(0, 0, 28, 28))
	for x := range 28 {
		picture.SetGray(x, x, color.Gray{Y: 255 - grey})
		picture.SetGray(x, 5, color.Gray{Y: grey})
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, picture); err != nil {
		t.Fatal(err)
	}
}
