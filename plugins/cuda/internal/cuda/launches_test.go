//go:build cuda

package cuda

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/bnctl/bnctl/plugins/gpu"
)

// TestHardwareLaunches measures launches one by one and as a recording, and transfers: the time of the host for
// each launch, the time until the last launch has ended, and GB/s. It fails if bytes come back changed.
func TestHardwareLaunches(t *testing.T) {
	openHardware(t).Close() // if there is no GPU, the test fails before anything is computed
	launches, size, times := 2000, 32<<20, 8
	d, err := gpu.Driver(nil), error(nil)
	if os.Getenv("BNCTL_PTX") == "instead" {
		launches, size, times = 20, 1<<20, 1
		d, err = newMachine()
	} else {
		list, _, _ := Provider{}.List(t.Context())
		d, err = openDriver(list[0].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	fill := gpu.Launch{Kernel: "fill", Groups: [2]int{1, 1}, Args: []any{int32(0), b, int32(gpu.Threads), int32(7)}}
	list := make([]gpu.Launch, launches)
	for i := range list {
		list[i] = fill
	}
	one := func() error { return d.Launch(fill.Kernel, fill.Groups, fill.Args) }
	all := func() error {
		for range list {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}
	timed(t, d, one) // the driver loads the kernel
	host, total := timed(t, d, all)
	t.Logf("figure launch_host_us %.3f", perLaunch(host, launches))
	t.Logf("figure launch_total_us %.3f", perLaunch(total, launches))
	began := time.Now()
	r, err := d.Record(list, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("figure record_us %.3f", perLaunch(time.Since(began), launches))
	if r != 0 {
		replay := func() error { return d.Replay(r) }
		timed(t, d, replay) // the first replay uploads the graph
		host, total = timed(t, d, replay)
		t.Logf("figure replay_host_us %.3f", perLaunch(host, launches))
		t.Logf("figure replay_total_us %.3f", perLaunch(total, launches))
		defer d.Forget(r)
	}
	transfers(t, d, b, size, times, all)
}

// transfers measures writes and reads of size bytes, and a write during launches.
func transfers(t *testing.T, d gpu.Driver, b gpu.Buffer, size, times int, launch func() error) {
	data, back := make([]byte, size), make([]byte, size)
	for i := range data {
		data[i] = byte(i * i >> 9)
	}
	write := func() (err error) {
		for range times {
			err = errors.Join(err, d.Write(b, 0, data))
		}
		return err
	}
	read := func() (err error) {
		for range times {
			err = errors.Join(err, d.Read(gpu.Transfer{Data: back, From: b})())
		}
		return err
	}
	timed(t, d, write) // pinned memory is allocated
	_, written := timed(t, d, write)
	timed(t, d, read)
	_, was := timed(t, d, read)
	if string(back) != string(data) {
		t.Error("other bytes came back")
	}
	speed := func(d time.Duration) float64 { return float64(size*times) / float64(d.Nanoseconds()) }
	t.Logf("figure write_gb_per_s %.2f", speed(written))
	t.Logf("figure read_gb_per_s %.2f", speed(was))
	_, total := timed(t, d, func() error { return errors.Join(launch(), write()) })
	t.Logf("figure launches_and_write_ms %.3f", total.Seconds()*1e3)
	_, small := timed(t, d, func() error { return d.Read(gpu.Transfer{Data: back[:4], From: b})() })
	t.Logf("figure small_read_us %.1f", small.Seconds()*1e6)
}

// timed returns the time of f on the host, and the time until all launches have ended.
func timed(t *testing.T, d gpu.Driver, f func() error) (host, total time.Duration) {
	t.Helper()
	if err := d.Wait(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := f(); err != nil {
		t.Fatal(err)
	}
	host = time.Since(began)
	if err := d.Wait(); err != nil {
		t.Fatal(err)
	}
	return host, time.Since(began)
}

// perLaunch returns microseconds for each of n launches.
func perLaunch(d time.Duration, n int) float64 { return d.Seconds() * 1e6 / float64(n) }
