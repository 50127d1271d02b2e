package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/serialize"
)

// TestReproduceNamesTheEpoch uses a device that computes one bit wrongly in the second epoch
// (scripts/sickdevice). reproduce must find this, and name the epoch.
func TestReproduceNamesTheEpoch(t *testing.T) {
	folder := t.TempDir()
	plugin, model := buildSickDevice(t, folder), filepath.Join(folder, "m.bnm")
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
	says(t, exitSick, "the first epoch with another state or evaluation is 2", on...) // m.bnc has the chain
	if err := os.Remove(filepath.Join(folder, "m.bnc")); err != nil {
		t.Fatal(err)
	}
	says(t, exitSick, "m.bnm differs; its chain is not there, which would name the epoch", on...)
}

// buildSickDevice builds scripts/sickdevice as the device plugin sick.
func buildSickDevice(t *testing.T, folder string) (plugin string) {
	t.Helper()
	plugin = filepath.Join(folder, "bnctl-device-sick")
	out, err := exec.Command("go", "build", "-o", plugin, "../../scripts/sickdevice").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return plugin
}

// TestReproduceRefusesOtherData checks that reproduce finds a changed label and a truncated picture before it
// trains.
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
	if err := os.Remove(filepath.Join(folder, "m.bnc")); err != nil { // because it has the paths of the pictures
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

// TestReproduceRefusesAnotherRecipe edits the recipe in a template. If the chain of the training exists, as a
// file or in a checkpoint, the change is found. Without the chain, the numbers of the recipe are still
// checked, and the result of the second training differs.
func TestReproduceRefusesAnotherRecipe(t *testing.T) {
	folder := t.TempDir()
	model := filepath.Join(folder, "m.bnm")
	says(t, exitDone, "", "train", "--quiet", "--model", "mlp-bn", "--data", "glyphs:16", "--batch", "8",
		"--replicas", "2", "--epochs", "2", "--devices", "ref", "-o", model)
	const none, file, checkpoint = "", "chain.jsonl", "bnc"
	for _, c := range []struct {
		is, other, want string
		code            int
		chain           string // the file that has the chain
	}{
		{`"lr":0.1`, `"lr":0.2`, "is not the chain of", exitMisused, file},
		{`"lr":0.1`, `"lr":0.2`, "edited.bnm was edited: the training had the one in ", exitMisused, checkpoint},
		{`"lr":0.1`, `"lr":0.2`, "differs; its chain is not there", exitSick, none},
		{`"order/1"`, `"order/2"`, "is not the chain of", exitMisused, file},
		{`"order/1"`, `"order/2"`, "the recipe needs part order/2, and release 0.1 has order/1; use a newer release",
			exitMisused, none},
		{`"ref/1"`, `"ref/7"`, "the recipe needs kernel class ref/7, and release 0.1 has ref/1", exitMisused, none},
		{`"samples":16`, `"samples":15`, "data is glyphs (train), 16 samples, was glyphs (train), 15 samples",
			exitMisused, none},
		{`"seed":0`, `"seed":1`, "differs", exitSick, none},
	} {
		edited := filepath.Join(folder, "edited.bnm")
		editRecipe(t, model, edited, c.is, c.other)
		for _, name := range []string{file, checkpoint} {
			path := filepath.Join(folder, "edited."+name)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if c.chain != name {
				continue
			}
			if err := os.WriteFile(path, contents(t, filepath.Join(folder, "m."+name)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		says(t, c.code, c.want, "reproduce", edited, "--quiet", "--devices", "ref", "--data", "glyphs:16")
	}
	bytesEdited := bytes.Replace(contents(t, model), []byte(`"lr":0.1`), []byte(`"lr":0.2`), 1)
	edited := filepath.Join(folder, "bytes.bnm")
	if err := os.WriteFile(edited, bytesEdited, 0o666); err != nil {
		t.Fatal(err)
	}
	says(t, exitMisused, "bytes.bnm: the header's checksum differs: the file is damaged; take another copy", "reproduce",
		edited, "--quiet", "--devices", "ref", "--data", "glyphs:16")
}

// editRecipe writes a copy of a template with another recipe. The digest of the chain in it is not changed.
func editRecipe(t *testing.T, from, to, is, other string) {
	t.Helper()
	m, err := serialize.ParseModel(from, contents(t, from))
	if err != nil || !bytes.Contains(m.Recipe, []byte(is)) {
		t.Fatalf("%v: the recipe %s has no %s", err, m.Recipe, is)
	}
	m.Recipe = bytes.Replace(m.Recipe, []byte(is), []byte(other), 1)
	if _, err := serialize.WriteModel(to, m); err != nil {
		t.Fatal(err)
	}
}

// TestReproduceRefusesFilesWithoutNumbers tests files that release 0.1 wrote before recipes had numbers. They
// can predict, and reproduce refuses them with an error that names the file.
func TestReproduceRefusesFilesWithoutNumbers(t *testing.T) {
	for _, name := range []string{"tiny.bnm", "middle.bnc"} {
		file := filepath.Join("testdata/releases/0.1", name)
		want := name + " lists no numbers of classes and parts: release 0.1 wrote it before there were any, and its " +
			"bits were promised within one build; use its weights as they are, or train again"
		says(t, exitMisused, want, "reproduce", file, "--devices", "ref", "--data", "glyphs:16")
		stripped := file
		if name == "middle.bnc" {
			stripped = filepath.Join(t.TempDir(), "stripped.bnm")
			says(t, exitDone, "", "strip", "--quiet", file, "-o", stripped)
		}
		answersOf(t, stripped)
	}
}

// TestReproduceOnOtherDevices trains on one device, stops and resumes, and reproduces the template on three
// devices.
func TestReproduceOnOtherDevices(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.bnm")
	on := []string{"--quiet", "--devices", "ref"}
	says(t, exitDone, "", append([]string{"train", "--model", "mlp-bn", "--data", "glyphs:24", "--val", "glyphs:8",
		"--schedule", "constant", "--batch", "8", "--replicas", "3", "--epochs", "1", "-o", model}, on...)...)
	says(t, exitDone, "", append([]string{"train", "--resume", strings.TrimSuffix(model, "bnm") + "bnc", "--epochs",
		"2", "-o", model}, on...)...)
	says(t, exitDone, "epoch 2: equal", "reproduce", model, "--devices", "3xref")
}

// TestVerifyFindsASickDevice checks the command devices verify with a device that computes a wrong bit. It
// must print the vector, exit with 3, and end within its time limit.
func TestVerifyFindsASickDevice(t *testing.T) {
	plugin := buildSickDevice(t, t.TempDir())
	t.Setenv("BNCTL_SICK_KERNELS", "fma")
	on := []string{"devices", "verify", "sick", "--device-plugin", plugin, "--allow-unlocked"}
	says(t, exitDone, "", on...)
	t.Setenv("BNCTL_SICK", "last bit")
	text := says(t, exitSick, "failed: the bits are not those of the class; train and predict without the device", on...)
	if !strings.Contains(text, "FAULT  sick: fma/1/") || !strings.Contains(text, "got bits 0x") {
		t.Errorf("no fault is described:\n%s", text)
	}
	t.Setenv("BNCTL_SICK", "slow")
	text = says(t, exitDone, "", append(on, "--limit", "2")...)
	if !strings.Contains(text, "did not run for lack of time: --limit 0 runs all") {
		t.Errorf("the limit of time was not kept:\n%s", text)
	}
	says(t, exitMisused, "--limit -1: want 0 to 86400 seconds", append(on, "--limit", "-1")...)
}
