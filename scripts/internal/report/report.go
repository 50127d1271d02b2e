package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Measurement has the results of one run of a command that measures.
type Measurement struct {
	Processor  string   `json:"processor"`
	Command    string   `json:"command,omitempty"`    // empty if a column has the command of each row
	Measured   string   `json:"measured"`             // the day: 2026-11-26
	Commit     string   `json:"commit,omitempty"`     // commit of bnctl
	Conditions string   `json:"conditions,omitempty"` // other load on the machine; facts that a reader needs
	Peers      []string `json:"peers,omitempty"`      // peers with their versions
	LeftOut    []string `json:"left_out,omitempty"`   // peers that could not do something, and why
	Sources    []string `json:"sources,omitempty"`    // sources of the measured programs; pages do not show them
	Rounds     int      `json:"rounds,omitempty"`     // number of rounds of measurements of each side
	Seconds    float64  `json:"seconds,omitempty"`    // least seconds of measuring a side in a round

	Comparisons []Comparison `json:"comparisons,omitempty"`

	Columns []string   `json:"columns,omitempty"`
	Rows    [][]string `json:"rows,omitempty"`
}

// Comparison is one row: the figures of bnctl and of a peer, which were measured alternately.
type Comparison struct {
	Group   string     `json:"group"`
	Name    string     `json:"name"`
	Unit    string     `json:"unit"`
	Less    bool       `json:"less,omitempty"` // smaller figures are better
	Must    float64    `json:"must,omitempty"`
	Aim     float64    `json:"aim,omitempty"`
	Note    string     `json:"note,omitempty"` // the required value, for a row without peers
	Bnctl   Sample     `json:"ours"`
	Against string     `json:"against,omitempty"` // name of the best peer
	Theirs  Sample     `json:"theirs,omitempty"`  // empty for a row without peers
	Overdue []string   `json:"overdue,omitempty"` // peers that did not answer in time
	FMA     [2]float64 `json:"fma"`               // GFLOP/s in registers, before and after the row
}

// Sample has the figures of one side, sorted.
type Sample []float64

// Median returns the middle of s, or 0 if s is empty.
func (s Sample) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Times returns how many times better a is than b. It is above 1 if a is better. lowerIsBetter states whether
// smaller figures are better.
func Times(a, b Sample, lowerIsBetter bool) float64 {
	if lowerIsBetter {
		return b.Median() / a.Median()
	}
	return a.Median() / b.Median()
}

// Ratio returns how many times better bnctl is than the best peer.
func (c Comparison) Ratio() float64 { return Times(c.Bnctl, c.Theirs, c.Less) }

// Group returns the comparisons of a group in order.
func (m *Measurement) Group(name string) []Comparison {
	var list []Comparison
	for _, c := range m.Comparisons {
		if c.Group == name {
			list = append(list, c)
		}
	}
	return list
}

// Groups lists the groups of the comparisons in order.
func (m *Measurement) Groups() []string {
	var names []string
	for _, c := range m.Comparisons {
		if !slices.Contains(names, c.Group) {
			names = append(names, c.Group)
		}
	}
	return names
}

// Read reads a measurement that Write wrote, or that was written by hand. The file must state the origin of
// its figures, and each row must have a cell for each column.
func Read(name string) (*Measurement, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var m Measurement
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &m, nil
}

func (m *Measurement) check() error {
	if m.Processor == "" || m.Command == "" && !slices.Contains(m.Columns, "command") {
		return errors.New("it does not name processor and command")
	}
	if _, err := time.Parse(time.DateOnly, m.Measured); err != nil {
		return fmt.Errorf("measured: want a day as 2026-11-26: %w", err)
	}
	if (len(m.Comparisons) == 0) == (len(m.Rows) == 0) {
		return errors.New("want comparisons, or rows")
	}
	for _, r := range m.Rows {
		if len(r) != len(m.Columns) {
			return fmt.Errorf("a row of %d cells, want %d: %q", len(r), len(m.Columns), r)
		}
	}
	for _, c := range m.Comparisons {
		if len(c.Bnctl) == 0 || !slices.IsSorted(c.Bnctl) || !slices.IsSorted(c.Theirs) {
			return fmt.Errorf("%s: want sorted figures of ours", c.Name)
		}
	}
	return nil
}

// Write writes m as JSON.
func (m *Measurement) Write(name string) error {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o666)
}
