package remote

import (
	"cmp"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/bnctl/bnctl/problem"
)

// whyNot adds the kind of the executable to the error of a start, if the system cannot run
// this kind of file.
func whyNot(err error, f *os.File) error {
	if f == nil || !errors.Is(err, syscall.ENOEXEC) {
		return err
	}
	if what := executableKind(f); what != "" {
		return problem.Advise("use the plugin's build for this system",
			"%w: it is %s, and this is %s/%s", err, what,
			runtime.GOOS, runtime.GOARCH)
	}
	return err
}

// executableKind describes the system that an executable is for ("an ELF executable for
// aarch64"). It returns "" for unknown formats, including scripts.
func executableKind(r io.ReaderAt) string {
	if f, err := elf.NewFile(r); err == nil {
		return "an ELF executable for " + strings.ToLower(strings.TrimPrefix(f.Machine.String(), "EM_"))
	}
	if f, err := macho.NewFile(r); err == nil {
		return "a macOS executable for " + strings.ToLower(strings.TrimPrefix(f.Cpu.String(), "Cpu"))
	}
	if _, err := macho.NewFatFile(r); err == nil {
		return "a macOS executable"
	}
	if f, err := pe.NewFile(r); err == nil {
		return "a Windows executable for " + cmp.Or(peMachines[f.Machine], fmt.Sprintf("machine %#x", f.Machine))
	}
	return ""
}

// peMachines maps the processors in the headers of Windows executables to Go's names.
var peMachines = map[uint16]string{pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_AMD64: "amd64",
	pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}
