// Package stores connects the command to files on other machines. It installs package store for URLs on
// the command line, and has the commands "models pull" and "models cache".
package stores

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/pretrained"
	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/problem"
)

// Flags returns the global flags about files on other machines.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "offline", Usage: "fetch nothing: use files of the cache alone (or BNCTL_OFFLINE=1)"},
		&cli.BoolFlag{Name: "allow-http", Usage: "fetch over http:// from other machines, too, without encryption"},
		&cli.Float64Flag{Name: "store-timeout", Value: 30, Usage: "`SECONDS` that a server may send nothing"},
	}
}

// main has patterns for the files that are fetched from a repository of the hub: one file of weights, or the
// files that it is divided into. The patterns are tried in the same order as in transformers.
var main = [][]string{
	{"model.safetensors"},
	{"*.safetensors.index.json", "*.safetensors"},
	{"pytorch_model.bin"},
	{"pytorch_model.bin.index.json", "pytorch_model-*.bin"},
	{"*.safetensors"},
	{"model.onnx"},
	{"onnx/model.onnx", "onnx/model.onnx_data"},
}

// Install makes this process able to open URLs, with the settings of a command line. It returns an error only
// if a setting is invalid.
func Install(ctx context.Context, args []string, stderr io.Writer) error {
	timeout, err := timeoutOf(args)
	if err != nil {
		return err
	}
	quiet := commandline.Has(args, "quiet")
	o := store.Options{Offline: isOffline(args), AllowHTTP: commandline.Has(args, "allow-http"),
		Timeout: timeout, Main: main}
	o.Names = map[string]func(string) (store.Source, error){pretrained.Scheme: pretrained.Resolve(os.Getenv)}
	if !quiet {
		o.Note = func(format string, args ...any) {
			fmt.Fprintln(stderr, legible.Sprintf("note: "+format, args...))
		}
		o.Progress = progress(stderr)
	}
	s, err := store.New(ctx, o)
	if err != nil {
		regular.SetRemote(nil)
		if !slices.ContainsFunc(args, namesURL) {
			return nil // a command with only local files needs no folder for the cache
		}
		return err
	}
	regular.SetRemote(s)
	return nil
}

// namesURL reports whether an argument names a file on another machine, for example https://...,
// folder:s3://... or --init=hf:....
func namesURL(arg string) bool {
	if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		arg = value
	}
	for _, scheme := range []string{"https", "http", "s3", "gs", "oci", "hf", pretrained.Scheme} {
		if strings.HasPrefix(arg, scheme+":") || strings.Contains(arg, ":"+scheme+"://") {
			return true
		}
	}
	return false
}

// isOffline reports whether the command line or the environment forbids the network.
func isOffline(args []string) bool {
	switch strings.ToLower(os.Getenv("BNCTL_OFFLINE")) {
	case "", "0", "false", "no":
		return commandline.Has(args, "offline")
	}
	return true
}

// timeoutOf returns the value of --store-timeout, or 0 if it is not given.
func timeoutOf(args []string) (time.Duration, error) {
	text, ok := commandline.Value(args, "store-timeout")
	if !ok {
		return 0, nil
	}
	var seconds float64
	if _, err := fmt.Sscanf(text, "%g", &seconds); err != nil || !(seconds >= 0.1 && seconds <= 86400) {
		return 0, &problem.Error{Field: "store-timeout", Value: text, Text: "want 0.1 to 86400 seconds"}
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// progress returns a function that draws the progress of a download on a terminal. It returns nil if
// stderr is not a terminal.
func progress(stderr io.Writer) func(name string, n, total int64) {
	f, ok := stderr.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func(name string, n, total int64) {
		if n == total {
			fmt.Fprint(stderr, "\r\x1b[K")
			return
		}
		fmt.Fprintf(stderr, "\r%s\x1b[K", legible.Sprintf("%s", bar(name, n, total)))
	}
}

// bar returns a line that shows the progress of a download.
func bar(name string, n, total int64) string {
	const width, mega = 30, 1e6
	if total <= 0 {
		return fmt.Sprintf("fetching %s: %.1f MB", name, float64(n)/mega)
	}
	full := int(min(n, total) * width / total)
	return fmt.Sprintf("fetching %s [%s%s] %.1f of %.1f MB", name, strings.Repeat("#", full),
		strings.Repeat(".", width-full), float64(n)/mega, float64(total)/mega)
}

// Output prints results.
type Output struct {
	Result func(format string, args ...any)
	Event  func(name string, v any)
}

// Mirror returns models with each URL replaced by the path of a copy. The copies are kept up to date with the
// server. Paths on this machine are unchanged.
func Mirror(models []string, interval time.Duration) ([]string, error) {
	paths := slices.Clone(models)
	for i, model := range models {
		if s, ok := regular.RemoteOf(model).(*store.Store); ok {
			var err error
			if paths[i], err = s.Mirror(model, interval); err != nil {
				return nil, err
			}
		}
	}
	return paths, nil
}

// open returns the store of this process.
func open(c *cli.Context, settings ...func(*store.Options)) (*store.Store, error) {
	var o store.Options
	for _, set := range settings {
		set(&o)
	}
	return store.New(c.Context, o)
}
