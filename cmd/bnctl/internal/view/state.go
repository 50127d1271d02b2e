package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/train"
)

// State is the content of a view. The zero State is for a run about which nothing is known yet.
type State struct {
	Title   string        // text that is shown before more is known
	Elapsed time.Duration // time since the run began

	started  *train.Started
	moment   train.Moment
	first    time.Duration // time when the first step was done
	rows     int           // number of rows in the steps since then
	watched  bool          // steps are counted by moments, not by events
	last     train.Stepped
	lastAt   time.Duration
	epoch    *train.EpochDone // the last epoch
	measured *train.EpochDone // the last epoch that was evaluated
	devices  []device
	ranks    []train.RankShare
	starved  float64 // share of the time that devices waited for input
	happened []happening

	loss, accuracy, rate, valLoss, valAccuracy, overlap series
}

// mostEvents is the number of events that are kept.
const mostEvents = 64

// device is what a view shows about a device.
type device struct {
	train.DeviceShare
	lost string // why the device was lost; "" while it is in use
}

// happening is an event of a run, with its time since the run began.
type happening struct {
	elapsed time.Duration
	text    string
	style   style
}

// Event handles an event of a run. elapsed is the time since the run began.
func (s *State) Event(e train.Event, elapsed time.Duration) {
	note := func(k style, format string, args ...any) {
		s.happened = s.happened[max(len(s.happened)-mostEvents+1, 0):]
		s.happened = append(s.happened, happening{elapsed, legible.Short(legible.Sprintf(format, args...)), k})
	}
	switch e := e.(type) {
	case train.Started:
		s.start(e)
		if e.FirstStep > 0 {
			note(accent, "resumed at step %d", e.FirstStep)
		}
	case train.Stepped:
		s.step(e, elapsed)
	case train.EpochDone:
		s.endEpoch(e)
		if e.Warning != "" {
			note(bad, "%s", e.Warning)
		}
	case train.DeviceLost:
		s.lose(e)
		note(bad, "%s", lostText(e))
	case train.DeviceBack:
		s.takeBack(e.Device)
		note(good, "%s is back at step %d", e.Device, e.Step)
	case train.DeviceJoined:
		s.deviceNamed(e.Device)
		note(good, "%s joins at step %d", e.Device, e.Step)
	case train.StageMoved:
		note(middling, "stage %d goes to %s at step %d", e.Stage, strings.Join(e.To, ", "), e.Step)
	case train.AtHost:
		note(middling, "devices exchange through bnctl: %s", e.Reason)
	case train.Placed:
		for i, name := range e.Devices {
			s.deviceNamed(name).Replicas = e.Replicas[i]
		}
		note(accent, "replicas placed by speed at step %d", e.Step)
	case train.StoppedEarly:
		note(middling, "stopped early at step %d: no better in %d evaluations", e.Step, e.Evaluations)
	}
}

func (s *State) start(e train.Started) {
	s.started = &e
	s.moment = train.Moment{Step: e.FirstStep, Epoch: 1}
	s.devices = nil
	for i, name := range e.Devices {
		s.devices = append(s.devices, device{DeviceShare: train.DeviceShare{Device: legible.Text(name)}})
		if i < len(e.Placement) {
			s.devices[i].Replicas = e.Placement[i]
		}
	}
}

// step adds the figures of an event about steps. It also counts the steps, unless moments do.
func (s *State) step(e train.Stepped, elapsed time.Duration) {
	s.last, s.lastAt = e, elapsed
	s.rate.add(e.Throughput)
	s.times(e.InputWait, e.Devices, e.Ranks)
	if !s.watched {
		s.loss.add(e.Loss)
		s.accuracy.add(float64(e.Accuracy))
		s.moment = train.Moment{Step: e.Step, Epoch: e.Epoch}
	}
}

// Moment stores the progress of a run. elapsed is the time since the run began.
func (s *State) Moment(m train.Moment, elapsed time.Duration) {
	s.moment = m
	if m.Rows == 0 {
		return
	}
	if !s.watched {
		s.first = elapsed
	} else {
		s.rows += m.Rows
	}
	s.watched = true
	s.loss.add(m.Loss)
	s.accuracy.add(m.Accuracy)
	s.times(m.InputWait, m.Devices, m.Ranks)
}

// times stores how devices and ranks use their time.
func (s *State) times(input float64, devices []train.DeviceShare, ranks []train.RankShare) {
	s.starved, s.ranks = input, ranks
	for _, d := range devices {
		known := s.deviceNamed(d.Device)
		d.Device = known.Device
		known.DeviceShare, known.lost = d, ""
	}
}

func (s *State) endEpoch(e train.EpochDone) {
	s.epoch = &e
	if e.ValLoss == nil {
		return
	}
	s.measured = &e
	if e.ValAccuracy != nil { // models of numbers have no accuracy
		s.valAccuracy.add(*e.ValAccuracy)
	}
	if e.ValLoss != nil {
		s.valLoss.add(float64(*e.ValLoss))
	}
	if e.ValMIoU != nil {
		s.overlap.add(float64(*e.ValMIoU))
	}
}

func (s *State) lose(e train.DeviceLost) {
	d := s.deviceNamed(e.Device)
	d.DeviceShare = train.DeviceShare{Device: d.Device}
	d.lost = fmt.Sprintf("lost at step %d", e.Step)
	if e.Excluded != "" {
		d.lost = legible.Text("excluded: " + e.Excluded)
	}
}

func lostText(e train.DeviceLost) string {
	if e.Excluded != "" {
		return fmt.Sprintf("%s excluded at step %d: %s", e.Device, e.Step, e.Excluded)
	}
	return fmt.Sprintf("%s lost at step %d: %s", e.Device, e.Step, strings.TrimPrefix(e.Reason, e.Device+": "))
}

func (s *State) takeBack(name string) { s.deviceNamed(name).lost = "" }

// deviceNamed returns the device with a name. If it is missing, it is added.
func (s *State) deviceNamed(name string) *device {
	name = legible.Text(name)
	for i := range s.devices {
		if s.devices[i].Device == name {
			return &s.devices[i]
		}
	}
	s.devices = append(s.devices, device{DeviceShare: train.DeviceShare{Device: name}})
	return &s.devices[len(s.devices)-1]
}
