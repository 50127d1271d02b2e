package spec

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// opened returns a device of class fma.
func opened(t *testing.T, p device.Provider) device.Device {
	t.Helper()
	d, err := p.Open(t.Context(), device.DefaultID, device.Options{Threads: 1, Kernels: "fma"})
	if err != nil {
		t.Skipf("this machine has no device of class fma: %v", err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// all returns all vectors.
func all(t *testing.T) []*Vector {
	t.Helper()
	list, err := Open(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The CPU device has the bits of every vector.
func TestCPU(t *testing.T) {
	s := JudgeAll(t.Context(), opened(t, cpu.Provider{}), all(t), func(o Outcome) {
		for _, line := range o.Lines() {
			t.Error(line)
		}
	})
	if s.Vectors != len(all(t)) {
		t.Errorf("%d of %d vectors ran", s.Vectors, len(all(t)))
	}
}

// The small vectors run every operation that device/ref has.
func TestSmall(t *testing.T) {
	list, err := Small()
	if err != nil {
		t.Fatal(err)
	}
	has := map[graph.Op]bool{}
	for _, v := range list {
		if strings.Contains(v.Name, "/large/") {
			t.Errorf("%s is large", v.Name)
		}
		for _, o := range v.Operations() {
			has[o] = true
		}
	}
	for _, o := range ref.Ops() {
		if !has[o] {
			t.Errorf("no small vector runs %v", o)
		}
	}
}

// copied returns a copy of one vector's files with their sums.
func copied(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	list, err := fs.Glob(os.DirFS("."), name+".*")
	if err != nil || len(list) == 0 {
		t.Fatal(name, err)
	}
	for _, file := range list {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[file] = &fstest.MapFile{Data: b}
	}
	sum(files)
	return files
}

// sum sets the list of sums.
func sum(files fstest.MapFS) {
	var list strings.Builder
	for name, f := range files {
		if name != Sums {
			fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(f.Data), name)
		}
	}
	files[Sums] = &fstest.MapFile{Data: []byte(list.String())}
}

// Folders that are damaged are refused, and the error is a sentence.
func TestDamagedFolders(t *testing.T) {
	const name = "fma/1/dense/17-to-5-bias"
	y := name + ".y.npy"
	edited := func(f fstest.MapFS, old, text string) {
		f[name+".json"].Data = []byte(strings.Replace(string(f[name+".json"].Data), old, text, 1))
		sum(f)
	}
	for _, c := range []struct {
		damage func(f fstest.MapFS)
		want   string
	}{
		{func(f fstest.MapFS) { delete(f, Sums) }, "there are no vectors: open SHA256SUMS: file does not exist; " +
			"name the folder spec of a release"},
		{func(f fstest.MapFS) { f[Sums].Data = []byte("x") }, "SHA256SUMS: line 1 is not a sum and a name; copy " +
			"the folder spec of this release again"},
		{func(f fstest.MapFS) { f[y].Data[180] ^= 1 }, y + ": its SHA-256 is not the one in SHA256SUMS; copy"},
		{func(f fstest.MapFS) { delete(f, y) }, "open " + y + ": file does not exist; copy"},
		{func(f fstest.MapFS) { f[y].Data = append(f[y].Data, 1, 2); sum(f) }, y +
			": 62 bytes follow the header, want 60"},
		{func(f fstest.MapFS) { f[y].Data = f[y].Data[:150]; sum(f) }, y + ": 22 bytes follow the header, want 60"},
		{func(f fstest.MapFS) { f[y].Data[20] ^= 1; sum(f) }, y + ": the header is not the one of f32[3,5]"},
		{func(f fstest.MapFS) { f["fma/1/dense/x.npy"] = &fstest.MapFile{}; sum(f) }, "no vector has it"},
		{func(f fstest.MapFS) { edited(f, `"schema": 1`, `"schema": 2`) },
			"schema 2; this release reads 1; use a release"},
		{func(f fstest.MapFS) { edited(f, `"fma/1"`, `"fma/2"`) },
			`it describes vector "fma/1/dense/17-to-5-bias" of class`},
		{func(f fstest.MapFS) { edited(f, `{`, `[`) }, name + ".json: "},
		{func(f fstest.MapFS) { edited(f, `"type": "f32"`, `"type": "f31"`) }, `unknown tensor type "f31"`},
		{func(f fstest.MapFS) { edited(f, `"shape": [3, 17]`, `"shape": [3, -17]`) }, "-17"},
	} {
		files := copied(t, name)
		c.damage(files)
		if _, err := Open(files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// Invalid descriptions are refused when the vector runs.
func TestWrongDescriptions(t *testing.T) {
	const name = "fma/1/dense/17-to-5-bias"
	d := opened(t, ref.Provider{})
	for old, c := range map[string]struct{ text, want string }{
		`"operation": "dense"`: {`"operation": "dance"`, `operation "dance" with number 14 is unknown`},
		`"number": 14`:         {`"number": 999`, `operation "dense" with number 999 is unknown`},
		`"leading": 0`:         {`"trailing": 0`, "attribute leading is absent"},
		`{
    "leading": 0`: {`{"more": 1, "leading": 0`, "2 attributes, want 1"},
		`"in": ["x", `:          {`"in": ["z", `, `no value "z" comes before it`},
		`"kind": "rows"`:        {`"kind": "columns"`, `unknown kind "columns"`},
		`"replicas": [2, 0, 1]`: {`"replicas": [2, 0, 2]`, ""},
	} {
		files := copied(t, name)
		text := strings.Replace(string(files[name+".json"].Data), old, c.text, 1)
		if text == string(files[name+".json"].Data) {
			t.Fatalf("the description has no %s", old)
		}
		files[name+".json"].Data = []byte(text)
		sum(files)
		list, err := Open(files)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if o := list[0].Judge(context.Background(), d); o.Error == "" || !strings.Contains(o.Error, c.want) {
			t.Errorf("%s: got %q, want %s", c.text, o.Error, c.want)
		}
	}
}

// A difference is named with both bit patterns, and so is the sign of a zero. Any NaN equals any
// other NaN.
func TestDifference(t *testing.T) {
	const name = "fma/1/relu/every-kind-of-number"
	files := copied(t, name)
	list, err := Open(files)
	if err != nil {
		t.Fatal(err)
	}
	got, err := list[0].Compute(t.Context(), opened(t, ref.Provider{}))
	if err != nil {
		t.Fatal(err)
	}
	y := files[path.Clean(name)+".y.npy"].Data
	y[128+4] ^= 1    // a quiet NaN gets a payload: element 0 is NaN, element 1 infinite
	y[128+0] ^= 0x10 // the payload of a NaN
	y[128+4*3+2] ^= 0x80
	list, err = reader{folder: files, unchecked: true}.open()
	if err != nil {
		t.Fatal(err)
	}
	differences, err := list[0].Compare(got)
	if err != nil || len(differences) != 1 {
		t.Fatal(differences, err)
	}
	want := name + ": result y, element 1 [0 1]: got bits 0x7f800000 (+Inf), want 0x7f800001 (NaN); 2 of 201 " +
		"elements differ"
	if got := differences[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWithinALimit checks that JudgeWithin starts no vector after the limit and counts the vectors that did
// not run. The vectors that ran must cover as many operations as possible.
func TestWithinALimit(t *testing.T) {
	list, err := Small()
	if err != nil {
		t.Fatal(err)
	}
	spread := Spread(list)
	operations := map[string]bool{}
	for _, v := range list {
		operations[path.Dir(v.Name)] = true
	}
	for _, v := range spread[:len(operations)] {
		delete(operations, path.Dir(v.Name))
	}
	if len(operations) > 0 || len(spread) != len(list) {
		t.Errorf("%d of %d vectors, and the first do not cover %v", len(spread), len(list), operations)
	}
	s := JudgeWithin(t.Context(), opened(t, cpu.Provider{}), spread, 1, func(Outcome) {})
	if s.Vectors != 1 || s.LeftOut != len(list)-1 || s.Faults > 0 {
		t.Errorf("within a nanosecond: %+v, want one vector", s)
	}
}

// unnumbered is a device that announces no class.
type unnumbered struct{ device.Device }

// Info implements device.Device.
func (u unnumbered) Info() device.Info {
	i := u.Device.Info()
	i.Classes = nil
	return i
}

// TestOfAnnouncedClasses checks that vectors run on devices that announce their class, and on no others.
func TestOfAnnouncedClasses(t *testing.T) {
	list, err := Small()
	if err != nil {
		t.Fatal(err)
	}
	d := opened(t, ref.Provider{})
	if s := JudgeAll(t.Context(), unnumbered{d}, list, func(Outcome) {}); s.Vectors != 0 || s.Classes != nil {
		t.Errorf("without classes: %+v", s)
	}
	if s := JudgeAll(t.Context(), d, list, func(Outcome) {}); s.Vectors != len(list) || len(s.Classes) != 2 {
		t.Errorf("with classes: %+v", s)
	}
}
