package machine

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/bnctl/bnctl/internal/regular"
)

// ratesFile is a file of measured rates.
type ratesFile struct {
	Format int         `json:"format"`
	Of     Description `json:"of"`
	By     string      `json:"by"` // name of the kernels that were measured
	Rates  Rates       `json:"rates"`
	Times  int         `json:"times"` // how often the rates were measured; 0 in files of older builds
}

// format is the number of the format of the files that this package writes.
const format = 1

// Other programs can only reduce a rate, perhaps during a whole measurement. So the best of several
// measurements is used. They are far enough apart that one busy minute does not affect all of them.
const (
	measurements = 5
	apart        = time.Minute
)

// LoadOrMeasure returns the rates of a machine. It loads them from a folder, unless folder is "", if they
// were measured on this machine by these kernels, often enough or just now. Otherwise it measures them and
// stores the higher one of each old and new rate. note is a sentence with the reason why they could not be
// stored, or "". If the folder cannot be written, rates are measured every time.
func LoadOrMeasure(folder string, d Description, kernels string, peak func(rounds int) int) (
	r Rates, note string) {
	path := filepath.Join(folder, fileOf(d.Processor, kernels))
	k, age, ok := load(path)
	ok = ok && folder != "" && k.suits(d, kernels)
	if ok && (k.Times >= measurements || age < apart) {
		return k.Rates, ""
	}
	r = Measure(d, peak)
	if ok {
		r = r.best(k.Rates)
	} else {
		k.Times = 0
	}
	if folder == "" {
		return r, "there is no folder for what is measured"
	}
	if err := write(path, ratesFile{format, d, kernels, r, k.Times + 1}); err != nil {
		return r, "what is measured is not kept: " + err.Error()
	}
	return r, ""
}

// Folder returns the folder for rates, or "" if the user does not have one.
func Folder() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "bnctl", "cpu")
}

// fileOf returns the name of the file with the rates of a processor and kernels.
func fileOf(processor, kernels string) string {
	name := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '-'
	}, processor+" "+kernels)
	return name[:min(len(name), 100)] + ".json"
}

// load reads a file of rates and returns its age. ok is false if the file is broken.
func load(path string) (k ratesFile, age time.Duration, ok bool) {
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &k) != nil {
		return ratesFile{}, 0, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return ratesFile{}, 0, false
	}
	return k, time.Since(info.ModTime()), true
}

// suits reports whether the rates are for this machine and these kernels: the same processor with the same
// caches. The number of cores that may be used can differ.
func (k *ratesFile) suits(d Description, kernels string) bool {
	r := k.Rates
	for _, rate := range []float64{r.Flops, r.L2, r.L3, r.Memory, r.Write, r.Copy} {
		if !(rate > 1e6 && rate < 1e16) {
			return false
		}
	}
	return k.Format == format && k.By == kernels && k.Of.Processor == d.Processor && k.Of.L1 == d.L1 &&
		k.Of.L2 == d.L2 && k.Of.L3 == d.L3
}

// write stores k in a file. A process that reads the file meanwhile sees the old contents or all of the new
// ones.
func write(path string, k ratesFile) error {
	b, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return regular.WriteFile(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}
