package report

import (
	"io"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// pageFile is the name of a page, if the user gives none.
const pageFile = "report.html"

// Write reads the runs at paths and writes a page about them to output. It returns the names of the files
// that it has written, and notes about parts of the runs that were left out; the page has these notes too. If
// output is "", the page about one folder is written into this folder, together with curves.svg and
// confusion.svg. The page about several runs, or about a file, is written to report.html in the current
// folder. If Write returns an error, a file that existed before is unchanged.
func Write(output string, paths ...string) (written, notes []string, err error) {
	if len(paths) == 0 {
		return nil, nil, problem.New("", "", "a report needs a run", "name the folder that {log-dir} named")
	}
	var runs []*Run
	for _, p := range paths {
		r, err := read(p)
		if err != nil {
			return nil, nil, err
		}
		runs = append(runs, r)
		for _, note := range r.Notes {
			notes = append(notes, r.Name+": "+note)
		}
	}
	folder, number := "", 1
	if output == "" {
		output = pageFile
		if info, err := os.Stat(paths[0]); len(paths) == 1 && err == nil && info.IsDir() {
			folder = paths[0]
			if _, number, _, err = newestLog(folder); err != nil {
				return nil, nil, err
			}
			output = filepath.Join(folder, numbered(pageFile, number))
		}
	}
	if err := regular.NotInput(output, paths...); err != nil {
		return nil, nil, err
	}
	err = regular.WriteFile(output, 0o666, func(w io.Writer) error { return writePage(w, runs...) })
	if err != nil {
		return nil, nil, err
	}
	written = []string{output}
	if folder == "" {
		return written, notes, nil
	}
	for _, f := range []struct {
		name string
		svg  []byte
	}{{"curves.svg", curvesSVG(runs...)}, {"confusion.svg", confusionSVG(runs[0])}} {
		if f.svg == nil {
			continue
		}
		path := filepath.Join(folder, numbered(f.name, number))
		if err := writeBytes(path, f.svg); err != nil {
			return written, notes, err
		}
		written = append(written, path)
	}
	return written, notes, nil
}
