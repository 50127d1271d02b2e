// Vectors makes the golden vectors in the folder spec with the reference device, device/ref:
//
//	go run ./scripts/vectors            writes spec/fma, spec/int8 and spec/SHA256SUMS
//	go run ./scripts/vectors -check     lists the files that differ, and exits with 1 if some do
//
// The vectors of a kernel class that was released never change. If its bits must change, the class gets a new
// number.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	folder := flag.String("o", "spec", "the folder")
	check := flag.Bool("check", false, "compare the folder with what would be written")
	flag.Parse()
	if err := run(*folder, *check); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(folder string, check bool) error {
	files, err := generate(context.Background(), cases())
	if err != nil {
		return err
	}
	if check {
		return compare(folder, files)
	}
	old, err := written(folder)
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare lists those files of a folder that differ from the given files.
func compare(folder string, files map[string][]byte) error {
	have, err := written(folder)
	if err != nil {
		return err
	}
	var differ []string
	for _, name := range have {
		if files[name] == nil {
			differ = append(differ, name+": nothing makes it")
		}
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil {
			differ = append(differ, name+": not there")
		} else if string(got) != string(want) {
			differ = append(differ, name+": other bytes")
		}
	}
	slices.Sort(differ)
	for _, line := range differ {
		fmt.Println(line)
	}
	if len(differ) > 0 {
		return fmt.Errorf("%d files differ; go run ./scripts/vectors writes them", len(differ))
	}
	return nil
}

// written returns the names of the generated files in a folder.
func written(folder string) ([]string, error) {
	var names []string
	for _, pattern := range []string{"SHA256SUMS", "*/1/*/*.json", "*/1/*/*.npy", "*/1/*/large/*.json",
		"*/1/*/large/*.npy"} {
		list, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range list {
			name, err := filepath.Rel(folder, path)
			if err != nil {
				return nil, err
			}
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names, nil
}
