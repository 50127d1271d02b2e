package train

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/bnctl/bnctl/train/internal/tfevents"
)

// Board writes the figures of a run to files. For TensorBoard it writes event files with the curves step/...
// by step and epoch/... by epoch, each named as in the JSON of its event. For other programs it writes lines
// of JSON, metrics.jsonl, and a table, metrics.csv.
type Board struct {
	folder  string
	note    func(text string)
	w       *tfevents.Writer
	err     error // first error of w
	metrics *metrics
	lost    error // first error of the metrics files
	warned  bool  // the user was told that figures are missing
}

// OpenBoard makes an event file for TensorBoard in a folder, and the folder if it does not
// exist. A resumed run writes another event file in the same folder, and continues the
// metrics files of its recipe. A new run in a folder with metrics of another run writes
// numbered files. note, unless nil, is called with their names, and when something cannot
// be written. The caller closes the board.
func OpenBoard(folder string, note func(text string)) (*Board, error) {
	w, err := tfevents.Create(folder)
	if err != nil {
		return nil, err
	}
	return &Board{folder: folder, note: note, w: w}, nil
}

// Show writes an event of the run. The first event is Started. If an event cannot be written, for example on
// a full disk, TensorBoard's curves lack this and all later points. The metrics lack only the events until
// there is space again. Close returns the first errors.
func (b *Board) Show(e Event) {
	b.curves(e)
	if start, ok := e.(Started); ok && b.metrics == nil {
		b.metrics, b.lost = openMetrics(b.folder, start)
		if b.lost == nil && b.metrics.number > 1 && !b.metrics.goesOn && b.note != nil {
			lines, table := metricsPaths(b.folder, b.metrics.number)
			b.note(fmt.Sprintf("there are metrics of another run; the metrics of this one are in %s and %s",
				filepath.Base(lines), filepath.Base(table)))
		}
	}
	if b.metrics != nil && b.metrics.table != nil {
		if err := b.metrics.write(e, time.Now()); b.lost == nil {
			b.lost = err
		}
	}
	if err := cmp.Or(b.lost, b.err); err != nil && !b.warned && b.note != nil {
		b.warned = true
		b.note(fmt.Sprintf("%v; figures are missing there, and the run continues", err))
	}
}

// curves writes the figures of an event for TensorBoard, if it has any.
func (b *Board) curves(e Event) {
	switch e := e.(type) {
	case Stepped:
		b.write(e.Step, "step/", []tfevents.Scalar{{Tag: "loss", Value: e.Loss},
			{Tag: "accuracy", Value: float64(e.Accuracy)},
			{Tag: "lr", Value: e.LR}, {Tag: "images_per_s", Value: e.Throughput},
			{Tag: "input_wait", Value: e.InputWait}, {Tag: "sync_wait", Value: e.SyncWait}})
	case EpochDone:
		figures := []tfevents.Scalar{{Tag: "train_loss", Value: e.TrainLoss},
			{Tag: "train_accuracy", Value: float64(e.TrainAccuracy)}, {Tag: "images_per_s", Value: e.Throughput}}
		if e.ValLoss != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_loss", Value: float64(*e.ValLoss)})
		}
		if e.ValAccuracy != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_accuracy", Value: *e.ValAccuracy})
		}
		if e.ValAP50 != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_ap50", Value: float64(*e.ValAP50)})
		}
		if e.ValR2 != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_r2", Value: float64(*e.ValR2)})
		}
		if e.ValMIoU != nil {
			figures = append(figures, tfevents.Scalar{Tag: "val_miou", Value: float64(*e.ValMIoU)})
		}
		b.write(e.Epoch, "epoch/", figures)
	}
}

func (b *Board) write(step int, prefix string, figures []tfevents.Scalar) {
	figures = slices.DeleteFunc(figures, func(f tfevents.Scalar) bool { return f.Value != f.Value })
	for i := range figures {
		figures[i].Tag = prefix + figures[i].Tag
	}
	if b.err == nil {
		b.err = b.w.Write(int64(step), figures...)
	}
}

// Close closes the files and returns the first errors of any Show.
func (b *Board) Close() error {
	if err := b.w.Close(); b.err == nil {
		b.err = err
	}
	if b.metrics != nil && b.metrics.table != nil {
		if err := b.metrics.close(); b.lost == nil {
			b.lost = err
		}
	}
	if b.err != nil && b.lost != nil {
		return fmt.Errorf("%w; %w", b.err, b.lost)
	}
	return cmp.Or(b.err, b.lost)
}
