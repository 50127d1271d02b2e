package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/bnctl/bnctl/problem"
)

// standardInput is the name of the standard input among inputs.
const standardInput = "-"

// isPipe reports whether an input is the standard input, or a pipe: a named one, or what a shell makes of
// <(command).
func isPipe(input string) bool {
	if input == standardInput {
		return true
	}
	info, err := os.Stat(input)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// openPipe reads what comes through a pipe, a picture or an array of NumPy's, up to its end.
func openPipe(ctx context.Context, input string, opt Options) (Source, error) {
	name := input
	if input == standardInput {
		name = "standard input"
	}
	content, err := readPipe(ctx, input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	if bytes.HasPrefix(content, []byte(npyMagic)) {
		x, err := onlyArray(name, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		m, err := arraySource(name, x, opt)
		if err != nil {
			return nil, err
		}
		return arrayInput(m, input), nil
	}
	if _, err := codecOf(content); err != nil {
		return nil, problem.Advise("write archives to a file, and name it",
			"%s: %w, nor an array of NumPy's; a pipe has one of them", name, err)
	}
	t := &tree{close: func() error { return nil }}
	err = t.add(member{"", int64(len(content)), func() ([]byte, error) { return content, nil }})
	return pictureInput(t, input, opt), err
}

// readPipe reads a pipe to its end, or to that of the context: nobody may ever write to it.
func readPipe(ctx context.Context, input string) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	read := make(chan result, 1)
	go func() { // it stays where nothing comes, up to the end of the program
		f := os.Stdin
		if input != standardInput {
			var err error
			if f, err = os.Open(input); err != nil {
				read <- result{err: err}
				return
			}
			defer f.Close()
		}
		content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
		if err == nil && len(content) > maxFileBytes {
			err = fmt.Errorf("more than %d MiB", maxFileBytes>>20)
		}
		read <- result{content, err}
	}()
	select {
	case r := <-read:
		return r.content, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
