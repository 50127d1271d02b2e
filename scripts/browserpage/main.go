// Browserpage builds docs/examples/browser into one HTML file that contains the program, because a page that
// is opened from file:// must not fetch other files.
//
//	go run ./scripts/browserpage bin/bnctl.html
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const source = "docs/examples/browser"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/browserpage FILE.html")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "browserpage:", err)
		os.Exit(1)
	}
}

// build writes the page: page.html with its scripts and the program inside it.
func build(output string) error {
	program, err := compiled()
	if err != nil {
		return err
	}
	packed, err := pack(program)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(source, "page.html"))
	if err != nil {
		return err
	}
	for name, from := range map[string]string{"draw.js": source, "page.js": source, "worker.js": source,
		"wasm_exec.js": filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm")} {
		script, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		page = inline(page, name, script)
	}
	page = inline(page, "page.wasm", packed)
	fmt.Printf("%s: %.1f MB; WebAssembly %.1f MB, compressed %.1f MB\n", output, float64(len(page))/1e6,
		float64(len(program))/1e6, float64(len(packed))*3/4/1e6)
	return os.WriteFile(output, page, 0o666)
}

// inline replaces the reference to a file by the content of the file. The tag keeps its other attributes.
func inline(page []byte, name string, content []byte) []byte {
	return bytes.Replace(page, fmt.Appendf(nil, " src=%q></script>", name),
		slices.Concat([]byte(">"), content, []byte("</script>")), 1)
}

// compiled returns the program of the page as WebAssembly.
func compiled() (program []byte, err error) {
	folder, err := os.MkdirTemp("", "browserpage")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, "page.wasm")
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file, "./"+source)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// pack returns a program as gzip in base64.
func pack(program []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(program); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return []byte(base64.StdEncoding.EncodeToString(b.Bytes())), nil
}
