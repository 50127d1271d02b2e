package remote_test

import (
	"bytes"
	"context"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/remote"
)

// header returns the bytes of values, little endian, and zeros up to n bytes.
func header(t *testing.T, n int, values ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return append(b.Bytes(), make([]byte, max(n-b.Len(), 0))...)
}

// TestPluginOfAnotherSystem checks that the error describes a file that the system cannot
// start.
func TestPluginOfAnotherSystem(t *testing.T) {
	e := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_VAX), Version: uint32(elf.EV_CURRENT),
		Ehsize: 64}
	copy(e.Ident[:], elf.ELFMAG)
	e.Ident[elf.EI_CLASS], e.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	e.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	mac := macho.FileHeader{Magic: macho.Magic64, Cpu: macho.CpuArm64, Type: macho.TypeExec}
	dos := header(t, 0x3c, []byte("MZ"))
	windows := pe.FileHeader{Machine: pe.IMAGE_FILE_MACHINE_ARM64}
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"elf": {header(t, 512, e), "it is an ELF executable for vax, and this is linux/"},
		"mac": {header(t, 512, mac, uint32(0)), "it is a macOS executable for arm64"},
		"windows": {header(t, 512, dos, uint32(0x40), []byte("PE\x00\x00"), windows),
			"it is a Windows executable for arm64"},
		"nothing": {header(t, 512, []byte{1, 2, 3, 4}), "exec format error"},
	} {
		path := filepath.Join(t.TempDir(), "bnctl-device-far")
		if err := os.WriteFile(path, test.content, 0o700); err != nil {
			t.Fatal(err)
		}
		p, err := remote.Start(context.Background(), remote.Command{Name: "far", Path: path, Timeout: patience})
		if err == nil {
			p.Close()
			t.Fatalf("%s: it started", name)
		}
		said := strings.Contains(err.Error(), "it is")
		if !strings.Contains(err.Error(), test.want) || said != (name != "nothing") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
