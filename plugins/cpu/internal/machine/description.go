package machine

import "fmt"

// Description describes a machine.
type Description struct {
	Processor string   `json:"processor"`         // the name that it reports
	Cores     int      `json:"cores"`             // number that this process may use at a time
	Present   int      `json:"present"`           // number of cores that the system has
	L1        Cache    `json:"l1"`                // data cache
	L2        Cache    `json:"l2"`                //
	L3        Cache    `json:"l3"`                // 0 bytes if the machine has no L3
	Assumed   []string `json:"assumed,omitempty"` // facts that the system did not provide, as sentences
}

// Cache is one level of a core's caches.
type Cache struct {
	Bytes  int `json:"bytes"`
	Shared int `json:"shared"` // number of cores that share it
}

// PerCore returns the bytes for one core if all cores share the cache equally.
func (c Cache) PerCore() int { return c.Bytes / max(c.Shared, 1) }

// Rates are the measured peak rates of one core.
type Rates struct {
	Flops  float64 `json:"flops"`   // floating-point operations per second, on registers alone
	L2     float64 `json:"l2"`      // bytes per second that a search for a byte reads from L2
	L3     float64 `json:"l3"`      //
	Memory float64 `json:"memory"`  //
	Write  float64 `json:"written"` // bytes per second that are written to memory
	Copy   float64 `json:"copied"`  // bytes per second read and written when memory is copied
}

// Typical are the rates of one core of a current server. They affect only how work is divided, not results.
var Typical = Rates{Flops: 100e9, L2: 35e9, L3: 14e9, Memory: 10e9, Write: 6.5e9, Copy: 6e9}

// Lines returns the description as sentences for a person.
func (d Description) Lines() []string {
	cores := fmt.Sprintf("%d cores", d.Cores)
	if d.Cores < d.Present {
		cores += fmt.Sprintf(" of %d: a mask or a group of the system holds it there", d.Present)
	}
	lines := []string{"processor: " + d.Processor + ", " + cores,
		fmt.Sprintf("caches: L1 %s, L2 %s, L3 %s", d.L1, d.L2, d.L3)}
	for _, a := range d.Assumed {
		lines = append(lines, "assumed: "+a)
	}
	return lines
}

// String returns the size of the cache and the number of cores that share it.
func (c Cache) String() string {
	switch {
	case c.Bytes == 0:
		return "none"
	case c.Shared > 1:
		return fmt.Sprintf("%s for %d cores", size(c.Bytes), c.Shared)
	}
	return size(c.Bytes)
}

// size returns a number of bytes in KiB or MiB.
func size(bytes int) string {
	if bytes%(1<<20) == 0 || bytes >= 8<<20 {
		return fmt.Sprintf("%.4g MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.4g KiB", float64(bytes)/(1<<10))
}

// Line returns the rates as a sentence for a person.
func (r Rates) Line() string {
	return fmt.Sprintf("rates of a core: %.4g GFLOP/s; reads %.3g GB/s of L2, %.3g of L3, "+
		"%.3g of memory; writes %.3g GB/s, copies %.3g", r.Flops/1e9, r.L2/1e9, r.L3/1e9, r.Memory/1e9,
		r.Write/1e9, r.Copy/1e9)
}

// best returns the higher value of each rate.
func (r Rates) best(other Rates) Rates {
	return Rates{
		Flops: max(r.Flops, other.Flops), L2: max(r.L2, other.L2), L3: max(r.L3, other.L3),
		Memory: max(r.Memory, other.Memory), Write: max(r.Write, other.Write), Copy: max(r.Copy, other.Copy),
	}
}
