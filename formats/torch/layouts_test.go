package torch

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestChoosesTheStateDict reads the checkpoints of well-known programs with other tensors
// next to and around the model's. The chosen state dict must be the one that
// load_state_dict would be given.
func TestChoosesTheStateDict(t *testing.T) {
	for head, want := range goldens(t, "layouts.txt") {
		name, key, _ := strings.Cut(head, " ")
		f, err := Read(filepath.Join("testdata/layouts", name), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := lines(t, f); got != want {
			t.Errorf("%s: took\n%s\nwant\n%s", name, got, want)
		}
		if f.Key != strings.TrimPrefix(key, ".") {
			t.Errorf("%s: the key is %q, want %q", name, f.Key, key)
		}
		f.Close()
	}
}

// TestSettingsBesideTensors checks that the settings of a run stored next to the tensors
// are reported, and not opened; other objects are rejected (testdata/hostile).
func TestSettingsBesideTensors(t *testing.T) {
	f, err := Read("testdata/layouts/flat_args.pth", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := "[{args an object of argparse.Namespace, not opened} {epoch 3}]"
	if got := fmt.Sprint(f.Counters); got != want {
		t.Errorf("counters %s, want %s", got, want)
	}
}

// TestObjectAmongTensors checks that a refusal names the remedy: the keys without an object
// among their tensors, if there are any.
func TestObjectAmongTensors(t *testing.T) {
	const refusal = `pytorch zip: key "root": an object of pathlib.PurePosixPath stands among the tensors; it is not ` +
		`opened; save the tensors without it, in Python: ` +
		`torch.save({k: v for k, v in d.items() if torch.is_tensor(v)}, 'weights.pth')`
	for file, keys := range map[string]string{
		"object_alone.pth":  "",
		"object_beside.pth": `; the tensors are those under "model", there are the keys "netB"; pick another with key`,
	} {
		_, err := Read("testdata/layouts/"+file, Options{})
		if err == nil || !strings.HasSuffix(err.Error(), refusal+keys) {
			t.Errorf("%s: %v\nwant %s", file, err, refusal+keys)
		}
	}
	f, err := Read("testdata/layouts/object_beside.pth", Options{Key: "netB"})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestSaysWhatIsLeftOut checks that the report has every tensor outside the state dict.
func TestSaysWhatIsLeftOut(t *testing.T) {
	for _, c := range []struct{ file, left, keys string }{
		{"imagenet.pth.tar", "[{best_acc1 a single value: 69.75 1 4} " +
			"{optimizer state of the training 5 524}]", "[state_dict]"},
		{"lightning.ckpt", "[{callbacks state of the training 3 12} {optimizer_states state of the training 5 524} " +
			"{hyper_parameters state of the training 1 12}]", "[state_dict]"},
		{"beside.pth", "[{loss a single value: 0.5 1 4} {val_losses part of a loss 1 20} " +
			"{torch_rng_state state of random numbers 1 5056} {cuda_rng_state state of the training 1 16} " +
			"{class_weights part of a loss 1 12} {mean a tensor beside the state dict 1 12} " +
			"{std a tensor beside the state dict 1 12} {criterion.weight part of a loss 1 12} " +
			"{bank a tensor beside the state dict 1 320}]", "[my_net]"},
		{"weight_beside.pth", "[{weight a tensor beside the state dict 1 12} {epoch a single value: 4 1 8}]",
			"[model]"},
		{"deeper.pth", "[{checkpoint.loss a single value: 0.5 1 4}]", "[checkpoint]"},
		{"loose_weights.pth", "[{best_acc1 a single value: 1.5 1 4}]", "[weights]"},
	} {
		f, err := Read("testdata/layouts/"+c.file, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.ReplaceAll(fmt.Sprint(f.Left), "  ", " "); got != c.left {
			t.Errorf("%s: left out\n%s\nwant\n%s", c.file, got, c.left)
		}
		if got := fmt.Sprint(f.Keys); got != c.keys {
			t.Errorf("%s: keys %s, want %s", c.file, got, c.keys)
		}
		f.Close()
	}
}

// TestAsksForTheKey checks that the user must choose among equally likely state dicts.
func TestAsksForTheKey(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"lists.pth", `2 candidates for the state dict: "0", "1"; pick one with key`},
		{"gan.pth", `2 candidates for the state dict: "netG", "netD"; pick one with key`},
		{"gan_deep.pth", `2 candidates for the state dict: "G.state_dict", "D.state_dict"; pick one with key`},
		{"weight_beside_mine.pth", `2 candidates for the state dict: "mine", "."; pick one with key`},
	} {
		_, err := Read("testdata/layouts/"+c.file, Options{})
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.file, err, c.want)
		}
	}
	for key, want := range map[string]string{
		"G.state_dict": "conv1.weight f32[4,3,3,3]",
		"D":            "state_dict.conv1.weight f32[4,3,3,3]",
	} {
		f, err := Read("testdata/layouts/gan_deep.pth", Options{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Tensors[0].String(); got != want {
			t.Errorf("--key %s: %s, want %s", key, got, want)
		}
		f.Close()
	}
	f, err := Read("testdata/layouts/weight_beside_mine.pth", Options{Key: "."})
	if err != nil || len(f.Tensors) != 9 {
		t.Fatalf("--key .: %v, %v", f, err)
	}
	f.Close()
}
