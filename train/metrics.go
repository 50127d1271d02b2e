package train

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/recipe"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// metrics writes the figures and events of a run as lines of JSON, and its figures as a
// table: metrics.jsonl and metrics.csv, or metrics-2.jsonl and metrics-2.csv in a folder
// with files of another run.
//
// A resumed run continues the files of its recipe, after a line that was truncated when the
// run was killed, and leaves out the figures that they already have.
type metrics struct {
	lines, table *appended
	number       int  // number of the run in its folder, from 1
	step, epoch  int  // the last step and epoch with figures
	goesOn       bool // the run continues existing files
}

// metricsColumns are the columns of the table. A step fills the columns up to sync_wait, an epoch
// fills all columns except lr.
var metricsColumns = []string{"event", "time", "step", "epoch", "loss", "accuracy", "lr", "images_per_s",
	"input_wait", "sync_wait", "val_loss", "val_accuracy", "val_miou", "seconds"}

// mostRuns is the maximum number of runs with figures in a folder.
const mostRuns = 1000

// metricsPaths returns the files of run n of a folder, counted from 1.
func metricsPaths(folder string, n int) (lines, table string) {
	name := "metrics"
	if n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	return filepath.Join(folder, name+".jsonl"), filepath.Join(folder, name+".csv")
}

// openMetrics opens the files of a run that begins with e.
func openMetrics(folder string, e Started) (*metrics, error) {
	var existing *metrics
	n := 1
	for ; n <= mostRuns; n++ {
		lines, table := metricsPaths(folder, n)
		if absent(lines) && absent(table) {
			break
		}
		if e.FirstStep == 0 || absent(lines) {
			continue
		}
		m := &metrics{number: n}
		same, err := m.read(lines, e.Recipe)
		if err != nil {
			return nil, err
		}
		if same {
			existing = m
		}
	}
	if existing != nil {
		existing.goesOn = true
		return existing, existing.open(folder, os.O_APPEND)
	}
	m := &metrics{number: n}
	return m, m.open(folder, os.O_EXCL)
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// read reports whether a file has the figures of a recipe, and records their last step and
// epoch. Unreadable lines are ignored.
func (m *metrics) read(path string, r *recipe.Recipe) (same bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	for in := bufio.NewReader(f); ; {
		text, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		var line struct {
			Event       string
			Step, Epoch int
			Recipe      json.RawMessage
		}
		if json.Unmarshal(text, &line) == nil {
			switch line.Event {
			case "start":
				same = sameRun(r, line.Recipe)
			case "step":
				m.step = max(m.step, line.Step)
			case "epoch":
				m.epoch = max(m.epoch, line.Epoch)
			}
		}
		if err != nil {
			return same, nil
		}
	}
}

// sameRun reports whether a run of recipe r may continue one of another recipe, on any
// devices.
func sameRun(r *recipe.Recipe, other json.RawMessage) bool {
	was, err := recipe.Parse(other)
	if err != nil {
		return false
	}
	was.Kernels = r.Kernels
	return len(r.Differences(was)) == 0
}

// open opens the files. The first written line starts on a new line.
func (m *metrics) open(folder string, flag int) (err error) {
	lines, table := metricsPaths(folder, m.number)
	if m.lines, err = openTail(lines, flag); err != nil {
		return err
	}
	if m.table, err = openTail(table, flag); err != nil {
		err = errors.Join(err, m.lines.file.Close())
		m.table = nil
		return err
	}
	if at, err := m.table.file.Seek(0, io.SeekEnd); err != nil || at > 0 {
		return err
	}
	return m.row(metricsColumns)
}

// appended is a file that lines are written to.
type appended struct {
	file *os.File
	torn bool // the file may end with a truncated line
}

// write writes lines. After a truncated line, for example because of a full disk, they
// begin on a new line.
func (a *appended) write(lines string) error {
	if a.torn {
		lines = "\n" + lines
	}
	n, err := io.WriteString(a.file, lines)
	a.torn = err != nil && (a.torn || n > 0)
	return err
}

// openTail opens a file to write at its end. If the last line has no line end, openTail adds one.
func openTail(path string, flag int) (*appended, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flag, 0o666)
	if err != nil {
		return nil, err
	}
	last := []byte{'\n'}
	if at, err := f.Seek(0, io.SeekEnd); err == nil && at > 0 {
		_, err = f.ReadAt(last, at-1)
		if err == nil && last[0] != '\n' {
			_, err = f.Write([]byte{'\n'})
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &appended{file: f}, nil
}

// write writes an event that happened at a given time.
func (m *metrics) write(e Event, at time.Time) error {
	switch e := e.(type) {
	case Stepped:
		if e.Step <= m.step {
			return nil
		}
		m.step = e.Step
	case EpochDone:
		if e.Epoch <= m.epoch {
			return nil
		}
		m.epoch = e.Epoch
	}
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	body, err := json.Marshal(e)
	if err != nil { // a mean of finite figures may be infinite, which JSON cannot hold
		body = fmt.Appendf(nil, `{"error":%q}`, err.Error())
	}
	line := fmt.Sprintf(`{"event":%q,"time":%q,%s`, e.Event(), stamp, body[1:])
	if err := m.lines.write(line + "\n"); err != nil {
		return err
	}
	if cells := metricsRow(e, stamp); cells != nil {
		return m.row(cells)
	}
	return nil
}

// row writes a row of the table.
func (m *metrics) row(cells []string) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(cells) // writing to memory cannot fail
	w.Flush()
	return m.table.write(b.String())
}

// metricsRow returns the row of an event that has figures; nil for others.
func metricsRow(e Event, stamp string) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	perhaps := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	met := func(f evaluation.Figure) string { // "" for labels that are numbers: they have no accuracy
		if f != f {
			return ""
		}
		return number(float64(f))
	}
	switch e := e.(type) {
	case Stepped:
		return []string{"step", stamp, strconv.Itoa(e.Step), strconv.Itoa(e.Epoch), number(e.Loss),
			met(e.Accuracy), number(e.LR), number(e.Throughput), number(e.InputWait),
			number(e.SyncWait), "", "", "", ""}
	case EpochDone:
		return []string{"epoch", stamp, "", strconv.Itoa(e.Epoch), number(e.TrainLoss), met(e.TrainAccuracy), "",
			number(e.Throughput), number(e.InputWait), number(e.SyncWait), perhaps((*float64)(e.ValLoss)),
			perhaps(e.ValAccuracy), perhaps((*float64)(e.ValMIoU)), number(e.Seconds)}
	}
	return nil
}

func (m *metrics) close() error { return errors.Join(m.lines.file.Close(), m.table.file.Close()) }
