package train

import "github.com/bnctl/bnctl/train/internal/tfevents"

// Board writes the figures of a run as TensorBoard event files: curves step/... by
// step and epoch/... by epoch, each named as in the JSON of its event.
type Board struct {
	to  *tfevents.Writer
	err error
}

// OpenBoard makes an event file for TensorBoard in a folder, and the folder if it
// does not exist. A resumed run writes another file in the same folder. The
// caller closes the board.
func OpenBoard(folder string) (*Board, error) {
	w, err := tfevents.Create(folder)
	if err != nil {
		return nil, err
	}
	return &Board{to: w}, nil
}

// Show writes the figures of an event, if it has any. After an error it writes
// nothing more, and Close returns the error.
func (b *Board) Show(e Event) {
	switch e := e.(type) {
	case Stepped:
		b.write(e.Step, "step/", []tfevents.Scalar{{Tag: "loss", Value: e.Loss},
			{Tag: "accuracy", Value: e.Accuracy},
			{Tag: "lr", Value: e.LR}, {Tag: "images_per_s", Value: e.Throughput},
			{Tag: "input_wait", Value: e.InputWait}, {Tag: "sync_wait", Value: e.SyncWait}})
	case EpochDone:
		figures := []tfevents.Scalar{{Tag: "train_loss", Value: e.TrainLoss},
			{Tag: "train_accuracy", Value: e.TrainAccuracy}, {Tag: "images_per_s", Value: e.Throughput}}
		if e.ValLoss != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_loss", Value: float64(*e.ValLoss)})
		}
		if e.ValAccuracy != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_accuracy", Value: *e.ValAccuracy})
		}
		if e.ValMIoU != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_miou", Value: float64(*e.ValMIoU)})
		}
		b.write(e.Epoch, "epoch/", figures)
	}
}

func (b *Board) write(at int, prefix string, figures []tfevents.Scalar) {
	for i := range figures {
		figures[i].Tag = prefix + figures[i].Tag
	}
	if b.err == nil {
		b.err = b.to.Write(int64(at), figures...)
	}
}

// Close closes the file and returns the first error of any Show.
func (b *Board) Close() error {
	if err := b.to.Close(); b.err == nil {
		b.err = err
	}
	return b.err
}
