package main

import (
	"bytes"
	"io"
	"os"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/help"
	"github.com/bnctl/bnctl/internal/waiting"
)

// leastColumns is the number of columns of the narrowest terminal where help is folded.
const leastColumns = 40

// foldHelp fits help into the columns of the terminal that it is written to, or into COLUMNS.
func foldHelp() {
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		var text bytes.Buffer
		cli.HelpPrinterCustom(&text, template, data, nil)
		columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
		if err != nil && isTerminal(w) {
			columns = waiting.Columns(w)
		}
		if columns < leastColumns {
			_, _ = w.Write(text.Bytes())
			return
		}
		_, _ = io.WriteString(w, help.Fold(text.String(), columns))
	}
}

// group sorts the flags of a command by the topics under which help lists them.
func group(flags []cli.Flag) { help.Group(flags) }
