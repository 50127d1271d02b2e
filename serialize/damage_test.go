package serialize

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// readWhole decodes a file and verifies all of it.
func readWhole(b []byte) (Kind, *header, []named, error) {
	k, h, tensors, err := readContainer(b)
	if err == nil {
		err = verify(h.Tensors, tensors, allCores(), func(tensor.Tensor) {}).wait()
	}
	return k, h, tensors, err
}

// Every byte of a file counts: no bit can change, and no byte can be lost,
// without an error.
func TestEveryBitIsCovered(t *testing.T) {
	good := fileOf(t)
	if _, _, _, err := readWhole(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		b := append([]byte(nil), good...)
		b[i] ^= 1 << (i % 8)
		if _, _, _, err := readWhole(b); err == nil {
			t.Errorf("a flipped bit in byte %d of %d: no error", i, len(good))
		}
		if _, _, _, err := readWhole(good[:i]); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", i, len(good))
		}
	}
	if _, _, _, err := readWhole(append(good, 0)); err == nil {
		t.Error("a byte too many: no error")
	}
}

// forge returns a file with h as its header and a checksum that fits.
func forge(t testing.TB, h *header, data []byte) []byte {
	body, err := h.encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(start(Template, first, body), data...)
}

// forged returns the file of tinyModel with a changed header.
func forged(t testing.TB, change func(*header)) []byte {
	good := fileOf(t)
	_, h, _, err := readContainer(good)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := readStart(good)
	change(h)
	return forge(t, h, good[align(startSize+int64(len(body))):])
}

// resealed changes the first 16 bytes and makes the checksum fit again.
func resealed(t testing.TB, change func([]byte)) []byte {
	b := fileOf(t)
	n := binary.LittleEndian.Uint32(b[magicSize+4:])
	change(b)
	copy(b[prefixSize:], headerSum(b, b[startSize:startSize+n]))
	return b
}

func TestHostileFiles(t *testing.T) {
	raw := func(body string) []byte { return start(Template, first, []byte(body)) }
	tensors := func(change func([]entry)) []byte { return forged(t, func(h *header) { change(h.Tensors) }) }
	cases := []struct {
		name, want string
		file       []byte
	}{
		{"empty", "empty", nil},
		{"foreign", "neither a bnctl template", []byte("PK\x03\x04 and so on, a zip archive of another program")},
		{"short", "cut short", fileOf(t)[:20]},
		{"newer version", "use a newer one", resealed(t, func(b []byte) { b[magicSize] = 3 })},
		{"version 0", "version 0", resealed(t, func(b []byte) { b[magicSize] = 0 })},
		{"header of gigabytes", "claims a header of 4294967295", resealed(t, func(b []byte) {
			binary.LittleEndian.PutUint32(b[magicSize+4:], 1<<32-1)
		})},
		{"header beyond the end", "are left", resealed(t, func(b []byte) {
			binary.LittleEndian.PutUint32(b[magicSize+4:], 1<<20)
		})},
		{"header one byte too long", "claims a header of", resealed(t, func(b []byte) {
			binary.LittleEndian.PutUint32(b[magicSize+4:], uint32(len(b)-startSize+1))
		})},
		{"checkpoint's magic", "another kind", resealed(t, func(b []byte) { b[3] = 'C' })},
		{"overlap", ": tensor bn1.bias: begins at 0, inside an earlier tensor", tensors(func(e []entry) { e[1].Offset = 0 })},
		{"negative offset", "inside an earlier tensor", tensors(func(e []entry) { e[0].Offset = -64 })},
		{"gap", "begins at 128, want 64", tensors(func(e []entry) { e[1].Offset = 128 })},
		{"out of range", "beyond the end", tensors(func(e []entry) { e[3].Offset = 1 << 40 })},
		{"tensor of gigabytes", "beyond the end", tensors(func(e []entry) { e[0].Shape = list[int]{1 << 30} })},
		{"last tensor too long", "beyond the end", tensors(func(e []entry) { e[3].Shape = list[int]{3} })},
		{"overflow", "too large", tensors(func(e []entry) { e[0].Shape = list[int]{1 << 40, 1 << 40} })},
		{"negative shape", "negative", tensors(func(e []entry) { e[0].Shape = list[int]{-1} })},
		{"unknown type", "unknown tensor type", tensors(func(e []entry) { e[0].DType = "f8" })},
		{"twice", "twice", tensors(func(e []entry) { e[1].Name = e[0].Name })},
		{"other name", "missing", tensors(func(e []entry) { e[0].Name = "else" })},
		{"other shape", "the graph declares", tensors(func(e []entry) { e[0].Shape = list[int]{2, 1} })},
		{"set in a template", "beside its state", tensors(func(e []entry) { e[0].Set = "best" })},
		{"all in a set", "beside its state", tensors(func(e []entry) {
			for i := range e {
				e[i].Set = "best"
			}
		})},
		{"bytes left over", "64 bytes follow the last tensor", forged(t, func(h *header) { h.Tensors = h.Tensors[:3] })},
		{"broken graph", "graph:", forged(t, func(h *header) { h.Graph = "bnctl graph 1\ngraph" })},
		{"no best epoch", "the best epoch is 0, with accuracy 1", forged(t, func(h *header) {
			h.Best = &models.BestEpoch{Figure: "accuracy", Value: 1}
		})},
		{"best by a number that is none", "with loss NaN", forged(t, func(h *header) {
			h.Best = &models.BestEpoch{Epoch: 1, Figure: "loss", Value: math.NaN()}
		})},
		{"best by what no run knows", "with taste 1", forged(t, func(h *header) {
			h.Best = &models.BestEpoch{Epoch: 1, Figure: "taste", Value: 1}
		})},
		{"broken recipe", "recipe is not JSON", forged(t, func(h *header) { h.Recipe = "{" })},
		{"nothing behind the checksum", "middle of a value", raw("")[:startSize]},
		{"labels that are no list", "header:", raw("\x81\xa6labels\x05")},
		{"labels that are numbers", "header:", raw("\x81\xa6labels\x91\x05")},
		{"no header", "middle of a value", raw("")},
		{"nested", "deep", raw(strings.Repeat("\x91", 1<<20))},
		{"list of gigabytes", "claims", raw("\xdd\xff\xff\xff\xff")},
		{"string of gigabytes", "claims", raw("\xdb\xff\xff\xff\xff")},
		{"map of gigabytes", "claims", raw("\xdf\xff\xff\xff\xff")},
		{"many values", "more than", raw("\xdd\x00\x60\x00\x00" + strings.Repeat("\x00", 6<<20))},
		{"never used byte", "0xc1", raw("\xc1")},
		{"two values", "after the last value", raw("\x80\x80")},
		{"not a map", "header:", raw("\x01")},
	}
	for _, c := range cases {
		_, err := ReadModel(put(t, c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestLongLists(t *testing.T) {
	body, err := msgpack.Marshal(map[string]any{"labels": make([]int, maxList+1)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeHeader(body); err == nil || !strings.Contains(err.Error(), "at most 131072") {
		t.Errorf("error %v", err)
	}
}

// If a field occurs twice in a header, the last one counts.
func TestFieldThatComesTwice(t *testing.T) {
	h, err := decodeHeader([]byte("\x82\xa6labels\x91\xa1a\xa6labels\x91\xa1b"))
	if err != nil || len(h.Labels) != 1 || h.Labels[0] != "b" {
		t.Errorf("labels %v, error %v", h, err)
	}
}

// FuzzRead gives the reader any header, with a checksum that fits, and any data.
func FuzzRead(f *testing.F) {
	good := fileOf(f)
	_, body, err := readStart(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(true, body, good[align(startSize+int64(len(body))):])
	f.Add(false, body, []byte{})
	path := filepath.Join(f.TempDir(), "c.bnc")
	if err := WriteCheckpoint(path, tinyCheckpoint(f)); err != nil {
		f.Fatal(err)
	}
	checkpoint := read(f, path)
	if _, body, err = readStart(checkpoint); err != nil {
		f.Fatal(err)
	}
	f.Add(false, body, checkpoint[align(startSize+int64(len(body))):])
	f.Add(true, []byte("\x81\xa6labels\x91\xa1a"), []byte{})
	f.Fuzz(func(t *testing.T, template bool, body, data []byte) {
		k := Training
		if template {
			k = Template
		}
		kind, h, tensors, err := readWhole(append(start(k, first, body), data...))
		switch {
		case err != nil:
		case kind != k:
			t.Errorf("a %s reads as a %s", k, kind)
		case k == Template:
			h.model(tensors)
		case h.Training != nil:
			h.checkpoint(tensors)
		}
	})
}
