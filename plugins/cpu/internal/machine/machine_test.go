package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// tree returns files that describe cores, as a system provides them. Each cache of a core has a level, a
// size and a list of the cores that share it.
func tree(name string, cores ...[][3]string) fstest.MapFS {
	files := fstest.MapFS{}
	if name != "" {
		files["proc/cpuinfo"] = &fstest.MapFile{Data: []byte("processor\t: 0\nmodel name\t: " + name + "\n")}
	}
	for i, caches := range cores {
		cpu := fmt.Sprintf("sys/devices/system/cpu/cpu%d", i)
		files[cpu+"/online"] = &fstest.MapFile{Data: []byte("1\n")}
		for k, c := range caches {
			at := fmt.Sprintf("%s/cache/index%d/", cpu, k)
			kind := "Unified"
			if c[0] == "1" {
				kind = "Data"
			}
			for file, text := range map[string]string{"type": kind, "level": c[0], "size": c[1],
				"shared_cpu_list": c[2]} {
				files[at+file] = &fstest.MapFile{Data: []byte(text + "\n")}
			}
		}
	}
	return files
}

func TestDescribe(t *testing.T) {
	zen3 := [][3]string{{"1", "32K", "0"}, {"2", "512K", "0"}, {"3", "32768K", "0-1"}}
	big := [][3]string{{"1", "48K", "0"}, {"2", "2048K", "0"}, {"3", "30M", "0-7"}}
	small := [][3]string{{"1", "32K", "4"}, {"2", "4096K", "4-7"}, {"3", "30M", "0-7"}}
	for _, c := range []struct {
		name        string
		files       fstest.MapFS
		cores, seen int
		want        Description
	}{
		{"two cores", tree("AMD EPYC", zen3, zen3), 2, 2,
			Description{Processor: "AMD EPYC", Cores: 2, Present: 2, L1: Cache{32 << 10, 1}, L2: Cache{512 << 10, 1},
				L3: Cache{32 << 20, 2}}},
		{"a group of the system allows one", tree("AMD EPYC", zen3, zen3), 1, 2,
			Description{Processor: "AMD EPYC", Cores: 1, Present: 2, L1: Cache{32 << 10, 1}, L2: Cache{512 << 10, 1},
				L3: Cache{32 << 20, 2}}},
		{"hybrid", tree("Core", big, small), 2, 2,
			Description{Processor: "Core", Cores: 2, Present: 2, L1: Cache{32 << 10, 1}, L2: Cache{4096 << 10, 4},
				L3: Cache{30 << 20, 8}, Assumed: []string{
					"L1 is 32 KiB; cores differ, and this is the smallest",
					"L2 is 4 MiB for 4 cores; cores differ, and this is the smallest"}}},
		{"no L3", tree("Small", zen3[:2]), 1, 1,
			Description{Processor: "Small", Cores: 1, Present: 1, L1: Cache{32 << 10, 1}, L2: Cache{512 << 10, 1}}},
		{"a system that hides everything", fstest.MapFS{}, 3, 4,
			Description{Processor: Unknown.Processor, Cores: 3, Present: 4, L1: Unknown.L1, L2: Unknown.L2,
				L3: Unknown.L3, Assumed: []string{"L1 is 48 KiB; the system does not say",
					"L2 is 1 MiB; the system does not say", "L3 is 32 MiB for 8 cores; the system does not say"}}},
		{"nonsense", tree("X", [][3]string{{"1", "-3K", "x"}, {"2", "99999999999999999999G", ""}, {"7", "", "5-1"}}), 1, 1,
			Description{Processor: "X", Cores: 1, Present: 1, L1: Unknown.L1, L2: Unknown.L2, L3: Unknown.L3,
				Assumed: []string{"L1 is 48 KiB; the system does not say", "L2 is 1 MiB; the system does not say",
					"L3 is 32 MiB for 8 cores; the system does not say"}}},
	} {
		if got := describe(c.files, c.cores, c.seen); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got\n%+v, want\n%+v", c.name, got, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	d := Description{Processor: "AMD EPYC", Cores: 1, Present: 2, L1: Cache{32 << 10, 1}, L2: Cache{512 << 10, 1},
		L3: Cache{32 << 20, 2}, Assumed: []string{"x"}}
	const want = "processor: AMD EPYC, 1 cores of 2: a mask or a group of the system holds it there\n" +
		"caches: L1 32 KiB, L2 512 KiB, L3 32 MiB for 2 cores\nassumed: x"
	if got := strings.Join(d.Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestKept(t *testing.T) {
	measured := 0
	peak := func(rounds int) int { measured = 1; time.Sleep(time.Microsecond); return 1e4 * rounds }
	d, folder := System(), filepath.Join(t.TempDir(), "not", "there", "yet")
	path := filepath.Join(folder, fileOf(d.Processor, "avx2"))
	get := func(what string, wantMeasured int, wantNote string, d Description, kernels string) Rates {
		t.Helper()
		measured = 0
		r, note := LoadOrMeasure(folder, d, kernels, peak)
		if measured != wantMeasured || !strings.HasPrefix(note, wantNote) || note != "" && wantNote == "" {
			t.Errorf("%s: measured %d times, want %d; note %q, want %q", what, measured, wantMeasured, note, wantNote)
		}
		if r.Flops < 1e6 || r.L2 < 1e6 || r.Copy < 1e6 {
			t.Errorf("%s: %+v", what, r)
		}
		return r
	}
	first := get("nothing is there", 1, "", d, "avx2")
	if again := get("all is there", 0, "", d, "avx2"); again != first {
		t.Errorf("got %+v, kept were %+v", again, first)
	}
	fewer := d
	fewer.Cores++
	get("another mask", 0, "", fewer, "avx2")
	get("other kernels", 1, "", d, "avx512")
	other := d
	other.L2.Bytes *= 2
	get("another machine's file", 1, "", other, "avx2")
	for _, broken := range []string{"", "{", `{"format":1}`, "[]", `{"format":9}`} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		get("a broken file", 1, "", d, "avx2")
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want the files of two sets of kernels", left, err)
	}
	if b, err := os.ReadFile(path); err != nil || !json.Valid(b) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestMeasuredAgain checks that rates are measured again in later minutes, in case other programs ran in
// the first one, and that the best rates are used.
func TestMeasuredAgain(t *testing.T) {
	measured := 0
	peak := func(rounds int) int { measured++; time.Sleep(time.Microsecond); return 1e4 * rounds }
	d, folder := System(), t.TempDir()
	path := filepath.Join(folder, fileOf(d.Processor, "avx2"))
	// no machine reads L2 at this rate, so it stays the best
	slow := Rates{Flops: 1e7, L2: 1e15, L3: 2e6, Memory: 2e6, Write: 2e6, Copy: 2e6}
	if err := write(path, ratesFile{Format: format, Of: d, By: "avx2", Rates: slow}); err != nil {
		t.Fatal(err)
	}
	for i := range measurements + 2 {
		past := time.Now().Add(-2 * apart)
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
		measured = 0
		r, note := LoadOrMeasure(folder, d, "avx2", peak)
		if again := measured > 0; again != (i < measurements) || note != "" {
			t.Errorf("start %d: measured: %v, note %q", i, again, note)
		}
		if r.L2 != slow.L2 || r.Flops <= slow.Flops || r.Copy <= slow.Copy {
			t.Errorf("start %d: %+v, first %+v: not the best of both", i, r, slow)
		}
		measured = 0
		if just, _ := LoadOrMeasure(folder, d, "avx2", peak); measured > 0 || just != r {
			t.Errorf("start %d: measured twice within a minute", i)
		}
	}
}

// With a folder that cannot be written the rates are measured again, and the note reports
// it.
func TestNotKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	peak := func(rounds int) int { time.Sleep(time.Microsecond); return 1e4 * rounds }
	for folder, want := range map[string]string{"": "there is no folder", filepath.Join(file, "x"): "what is measured is not kept: "} {
		if r, note := LoadOrMeasure(folder, System(), "avx2", peak); r.Memory < 1e6 || !strings.HasPrefix(note, want) {
			t.Errorf("%q: %+v, %q", folder, r, note)
		}
	}
}

// TestMeasureOfAnything checks that rates are measured even for absurd sizes, which a
// system may report.
func TestMeasureOfAnything(t *testing.T) {
	for _, bytes := range []int{0, 1 << 40} {
		d := Unknown
		d.L2.Bytes, d.L3.Bytes = bytes, bytes
		if r := Measure(d, func(rounds int) int { return rounds }); !(r.Memory > 0) {
			t.Errorf("caches of %d bytes: %+v", bytes, r)
		}
	}
}

// TestMeasureTakesItsShare checks that the measured memory is larger than the caches, but
// not a large part of the available memory.
func TestMeasureTakesItsShare(t *testing.T) {
	d := Unknown
	d.L3.Bytes = 48 << 20
	for available, want := range map[int64]int{
		0: 96 << 20, 64 << 30: 96 << 20, 160 << 20: 20 << 20, 1: 1 << 20,
	} {
		if got := farOf(d, available); got != want {
			t.Errorf("of %d bytes that are available %d are taken, want %d", available, got, want)
		}
	}
}
