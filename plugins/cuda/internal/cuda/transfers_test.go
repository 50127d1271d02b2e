package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/gpu"
)

// model has the expected memory of a driver.
type model struct {
	driver  gpu.Driver
	draws   *rand.Rand
	buffers [2]gpu.Buffer
	bytes   [2][]byte
	waits   []func() // end the reads in progress
}

func newModel(t *testing.T, d gpu.Driver, seed uint64) *model {
	t.Helper()
	m := &model{driver: d, draws: rand.New(rand.NewPCG(seed, 3))}
	for i := range m.buffers {
		b, err := d.Alloc(5 << 20)
		if err != nil {
			t.Fatal(err)
		}
		m.buffers[i], m.bytes[i] = b, make([]byte, 5<<20)
		if err := d.Write(b, 0, m.bytes[i]); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// span returns a random part of a buffer: a few bytes, or many.
func (m *model) span(buffer int) (at, n int) {
	most := len(m.bytes[buffer])
	n = m.draws.IntN([]int{16, 100 << 10, most}[m.draws.IntN(3)]) + 1
	at = m.draws.IntN(most-n+1) / 4 * 4
	return at, n
}

// write writes random bytes, and clears them after the call.
func (m *model) write() error {
	i := m.draws.IntN(2)
	at, n := m.span(i)
	data := make([]byte, n)
	for k := range data {
		data[k] = byte(m.draws.Uint32())
	}
	copy(m.bytes[i][at:], data)
	err := m.driver.Write(m.buffers[i], at, data)
	clear(data)
	return err
}

// fill returns a launch that fills the beginning of a buffer, and a function that fills the model.
func (m *model) fill() (gpu.Launch, func()) {
	i, n, v := m.draws.IntN(2), m.draws.IntN(1000), m.draws.Int32()
	return gpu.Launch{Kernel: "fill", Groups: [2]int{1, 1},
			Args: []any{int32(0), m.buffers[i], int32(n), v}}, func() {
			for k := range n {
				binary.LittleEndian.PutUint32(m.bytes[i][4*k:], uint32(v))
			}
		}
}

// read starts a read. The bytes are compared when the read ends, after later calls.
func (m *model) read(t *testing.T) {
	var list []gpu.Transfer
	var want [][]byte
	for range m.draws.IntN(3) {
		i := m.draws.IntN(2)
		at, n := m.span(i)
		list = append(list, gpu.Transfer{Data: make([]byte, n), From: m.buffers[i], At: at})
		want = append(want, bytes.Clone(m.bytes[i][at:at+n]))
	}
	wait := m.driver.Read(list...)
	m.waits = append(m.waits, func() {
		if err := wait(); err != nil {
			t.Error(err)
		}
		for i := range list {
			if !bytes.Equal(list[i].Data, want[i]) {
				t.Errorf("%d bytes from byte %d on are others", len(want[i]), list[i].At)
			}
		}
	})
}

// end ends the oldest reads until at most the given number is in progress.
func (m *model) end(but int) {
	for ; len(m.waits) > but; m.waits = m.waits[1:] {
		m.waits[0]()
	}
}

// TestTransfers compares random sequences of writes, launches, replays, copies and reads with a model. The
// library executes each call as late as possible.
func TestTransfers(t *testing.T) {
	for seed := range uint64(6) {
		d, err := openDriver(fakeGPU, fakeCUDA(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(t, d, seed)
		var recordings []gpu.Recording
		var replays []func()
		for range 300 {
			m.end(1)
			switch m.draws.IntN(6) {
			case 0, 1:
				err = m.write()
			case 2:
				l, do := m.fill()
				err = d.Launch(l.Kernel, l.Groups, l.Args)
				do()
			case 3:
				m.read(t)
			case 4:
				at := m.draws.IntN(1000) * 4
				err = d.Copy(m.buffers[0], m.buffers[1], at)
				copy(m.bytes[0], m.bytes[1][:at])
			case 5:
				if len(recordings) < 5 {
					r, do := m.record(t)
					recordings, replays = append(recordings, r), append(replays, do)
				}
				k := m.draws.IntN(len(recordings))
				err = d.Replay(recordings[k])
				replays[k]()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		m.end(0)
		for _, r := range recordings {
			err = errors.Join(err, d.Forget(r))
		}
		if err := errors.Join(err, d.Close()); err != nil {
			t.Error(err)
		}
	}
}

// record records a few launches.
func (m *model) record(t *testing.T) (gpu.Recording, func()) {
	var launches []gpu.Launch
	var all []func()
	for range 3 + m.draws.IntN(4) {
		l, do := m.fill()
		launches, all = append(launches, l), append(all, do)
	}
	r, err := m.driver.Record(launches, 1)
	if err != nil || r == 0 {
		t.Fatalf("recording %d, %v", r, err)
	}
	for _, l := range launches {
		clear(l.Args) // the recording has copies
	}
	return r, func() {
		for _, do := range all {
			do()
		}
	}
}

// TestNoGraphs checks that nothing is recorded if the driver has no graphs, if graphs are turned off, or if the
// driver fails to create them. Launches work in all of these cases.
func TestNoGraphs(t *testing.T) {
	for mode, want := range map[string]error{
		"no graphs": nil, "off": nil, "no nodes": device.Lost, "no instances": device.OutOfMemory,
	} {
		if mode == "off" {
			t.Setenv(graphsKey, "off")
		} else {
			t.Setenv(graphsKey, "")
		}
		d, err := openDriver(fakeGPU, fakeCUDA(t, mode))
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(t, d, 1)
		var launches []gpu.Launch
		for range 3 {
			l, _ := m.fill()
			launches = append(launches, l)
		}
		r, err := d.Record(launches, 1)
		if r != 0 || !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: recording %d, %v; want none, %v", mode, r, err, want)
		}
		l, do := m.fill()
		do()
		if err := d.Launch(l.Kernel, l.Groups, l.Args); err != nil {
			t.Errorf("%s: a launch afterwards: %v", mode, err)
		}
		m.read(t)
		m.end(0)
		d.Close()
	}
}
