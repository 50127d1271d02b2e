package train

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// machinesOf returns the expected traffic with the other machines of a group.
func machinesOf(g *parallel.Group) (e Machines) {
	for _, t := range g.Traffic() {
		e.Machines = append(e.Machines, MachinePlan{Machine: t.Link.Machine, Devices: t.Devices,
			Replicas: t.Replicas, Sent: t.Traffic.Out, Received: t.Traffic.In,
			RowBytes: t.RowBytes, Waits: t.Traffic.Waits, RoundTrip: t.Link.RoundTrip.Seconds(),
			Rate: t.Link.Rate, Network: t.Expected().Seconds()})
	}
	return e
}

// audits returns the choice of the replicas to audit by seed and step, or nil without Config.Audit.
func (s *Session) audits() func(device.Version) (int, []int) {
	p, r := s.plan.config.Audit, s.plan.recipe
	if p <= 0 {
		return nil
	}
	return func(device.Version) (step int, replicas []int) {
		step = s.trainer.progress.Step + 1
		for i := range r.StepReplicas() {
			if rand.New(rand.NewPCG(r.Seed, uint64(step)<<32|uint64(i))).Float64() < p {
				replicas = append(replicas, i)
			}
		}
		return step, replicas
	}
}

// audited returns the number of repeated runs of replicas.
func (s *Session) audited() int {
	if d, ok := s.trainer.driver.(*parallel.Driver); ok {
		return d.Audited()
	}
	return 0
}

// Lines describes the plan, with a line for each machine.
func (e Machines) Lines() (lines []string) {
	for _, m := range e.Machines {
		network := "the rate of its link is unknown"
		if m.Rate > 0 {
			network = fmt.Sprintf("%.1f Mbit/s, round trip %v: %v of the network if nothing overlaps", m.Rate*8/1e6,
				rounded(m.RoundTrip), rounded(m.Network))
		}
		lines = append(lines, fmt.Sprintf("machine %s: %s, %s, each step sends it %.2f MB and receives %.2f MB; %s",
			m.Machine, problem.Plural(len(m.Devices), "device"), problem.Plural(m.Replicas, "replica"),
			float64(m.Sent)/1e6, float64(m.Received)/1e6, network))
	}
	if line := machinesLine(e.Measured); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// rounded returns a time in seconds with about three digits.
func rounded(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}

// machineShares returns how other machines spent the time, from the times of the devices now.
func (m *meter) machineShares(now []parallel.DeviceTime) (list []MachineShare) {
	count := map[string]int{}
	for _, d := range now {
		if d.Link.Machine == "" {
			continue
		}
		at := slices.IndexFunc(list, func(x MachineShare) bool { return x.Machine == d.Link.Machine })
		if at < 0 {
			at, list = len(list), append(list, MachineShare{Machine: d.Link.Machine})
		}
		s, of := spent(d.Device, m.devices, now), &list[at]
		count[of.Machine]++
		of.Replicas += d.Replicas
		of.Compute += m.fraction(s.Took - s.Blocked)
		of.Waiting += m.fraction(s.Blocked - s.Sending)
		of.Sending += m.fraction(s.Sending)
		of.Sent, of.Received = max(of.Sent, s.Link.Sent), max(of.Received, s.Link.Received)
	}
	for i := range list {
		n := float64(count[list[i].Machine])
		list[i].Compute, list[i].Waiting, list[i].Sending = list[i].Compute/n, list[i].Waiting/n, list[i].Sending/n
	}
	return list
}

// machinesLine returns a line of text with the figures of each machine, or "" without machines.
func machinesLine(machines []MachineShare) string {
	var texts []string
	for _, m := range machines {
		text := fmt.Sprintf("%s: computing %.0f %%, waiting %.0f %%, sending %.0f %%, %.1f MB sent, "+
			"%.1f MB received", m.Machine, 100*m.Compute, 100*m.Waiting, 100*m.Sending, float64(m.Sent)/1e6,
			float64(m.Received)/1e6)
		if m.BreakEven != nil {
			text += ", " + m.BreakEven.String()
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	return "machines " + strings.Join(texts, " · ")
}
