package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
)

// standardInput is the argument that means the standard input.
const standardInput = "-"

// isPipe reports whether an input is the standard input, a named pipe, or a pipe that a shell makes for
// <(command).
func isPipe(input string) bool {
	if input == standardInput {
		return true
	}
	info, err := os.Stat(input)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// openPipe reads a pipe to its end. It may contain a picture, a NumPy array or an archive of pictures.
func openPipe(ctx context.Context, input string, opt Options) (Source, error) {
	name := input
	if input == standardInput {
		name = "standard input"
	}
	content, err := readPipe(ctx, input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, stream.WithoutPath(err))
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
	t, err := pipedArchive(ctx, content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if t != nil {
		return pictureInput(t, input, opt), nil
	}
	if _, err := images.FormatOf(content); err != nil {
		return nil, fmt.Errorf("%s: %w, nor an array of NumPy's, nor a .tar, .tar.gz or .zip archive", name, err)
	}
	t = &tree{close: func() error { return nil }}
	err = t.add(member{size: int64(len(content)), read: func() ([]byte, error) { return content, nil }})
	return pictureInput(t, input, opt), err
}

// pipedArchive returns the pictures in an archive, or nil if the content is not an archive.
func pipedArchive(ctx context.Context, content []byte) (t *tree, err error) {
	r := bytes.NewReader(content)
	switch archiveIn(content) {
	case "zip":
		t, err = openZip(r, int64(len(content)), func() error { return nil }, images.IsFileName)
	case "gzip":
		t, err = readTarGz(stream.NewReader(ctx, r), int64(len(content)), images.IsFileName)
	case "tar":
		t, err = readTar(stream.NewReader(ctx, r), images.IsFileName)
	default:
		return nil, nil
	}
	if err == nil && len(t.members) == 0 {
		err = errNoPictures
	}
	return t, err
}

// readPipe reads a pipe to its end. It also returns if the context ends, because the pipe may never have a
// writer.
func readPipe(ctx context.Context, input string) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	read := make(chan result, 1)
	go func() { // if the pipe never has a writer, this goroutine runs until the program ends
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
			err = problem.Advise("write it to a file, and name that", "more than %d MiB", maxFileBytes>>20)
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
