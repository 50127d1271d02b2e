package train

import (
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/recipe"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A board has a curve for every figure. Close returns an error if a figure was not written.
func TestBoard(t *testing.T) {
	folder := t.TempDir()
	b, err := OpenBoard(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	loss := 0.5
	b.Show(Started{Recipe: recipe.Default("mlp-bn")})
	b.Show(Stepped{Step: 10, Loss: 2, LR: 0.1})
	b.Show(EpochDone{Epoch: 1, TrainLoss: 1})
	files, _ := filepath.Glob(filepath.Join(folder, "events.*"))
	if len(files) != 1 {
		t.Fatalf("files %v, want one", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"step/loss", "step/accuracy", "step/lr", "step/images_per_s", "step/input_wait",
		"step/sync_wait", "epoch/train_loss", "epoch/train_accuracy", "epoch/images_per_s"} {
		if !strings.Contains(string(text), tag) {
			t.Errorf("there is no curve %s", tag)
		}
	}
	if strings.Contains(string(text), "epoch/val_") {
		t.Error("there are figures of a validation that was not made")
	}
	b.Show(EpochDone{Epoch: 2, ValLoss: (*evaluation.Figure)(&loss), ValAccuracy: &loss,
		ValMIoU: (*evaluation.Figure)(&loss)})
	text, err = os.ReadFile(files[0])
	for _, tag := range []string{"epoch/val_loss", "epoch/val_accuracy", "epoch/val_miou"} {
		if !strings.Contains(string(text), tag) {
			t.Errorf("there is no curve %s (%v)", tag, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	b.Show(Stepped{Step: 20}) // the file is closed: nothing can be written
	b.Show(Stepped{Step: 30})
	if err := b.Close(); err == nil {
		t.Error("figures that were not written are no error")
	}
}

// A folder that cannot be created is an error. A file that cannot be closed is an error of the first Close
// only.
func TestBoardThatCannotBe(t *testing.T) {
	if b, err := OpenBoard("board_test.go", nil); err == nil {
		t.Errorf("a file was taken for a folder: %v", b)
	}
	b, err := OpenBoard(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err == nil {
		t.Error("a file that cannot be closed is no error")
	}
}
