package study

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// Duration is the expected duration of a run of a setting, in seconds. It is estimated from the measured time
// of a step.
type Duration struct {
	Setting
	Step float64 `json:"step_seconds"` // time of one batch: forward, backward, exchange, update
	Run  float64 `json:"run_seconds"`  // time of one seed: all steps and evaluations
}

// SetDuration adds the duration of a setting. It replaces an earlier one of the same setting.
func (r *Results) SetDuration(d Duration) {
	r.Durations = slices.DeleteFunc(r.Durations, func(o Duration) bool { return o.Setting == d.Setting })
	r.Durations = append(r.Durations, d)
}

// Duration returns the expected duration of a run of a setting, or nil if no step was measured.
func (r *Results) Duration(s Setting) *Duration {
	i := slices.IndexFunc(r.Durations, func(d Duration) bool { return d.Setting == s })
	if i < 0 {
		return nil
	}
	return &r.Durations[i]
}

// Name returns the setting in words: "sync, 2 samples per replica".
func (s Setting) Name() string {
	return fmt.Sprintf("%s, %s per replica", s.Arm, problem.Plural(s.PerReplica, "sample"))
}

// InAnHour returns a finding about the settings that can be trained together within an hour, with all their
// seeds, in the order of the table. It returns nil if no step was measured.
func (r *Results) InAnHour() *Finding {
	f := &Finding{Question: "Which settings fit into an hour?"}
	var fit []string
	settings, total, within := 0, 0.0, 0.0
	for _, setting := range r.Settings() {
		d := r.Duration(setting)
		if d == nil {
			continue
		}
		whole := d.Run * float64(len(r.Seeds))
		settings, total = settings+1, total+whole
		if within+whole <= time.Hour.Seconds() {
			fit, within = append(fit, setting.Name()), within+whole
		}
		f.Details = append(f.Details, fmt.Sprintf("%s: %.2g s a step, %s a run, %s with %s", setting.Name(), d.Step,
			clock(d.Run), clock(whole), problem.Plural(len(r.Seeds), "seed")))
	}
	switch len(fit) {
	case settings:
		f.Answer = fmt.Sprintf("All %d together: they need %s by a measured step.", settings, clock(total))
	case 0:
		f.Answer = fmt.Sprintf("None: all %d need %s by a measured step.", settings, clock(total))
	default:
		f.Answer = fmt.Sprintf("%d of %d together, in %s by a measured step: %s. All need %s.", len(fit),
			settings, clock(within), strings.Join(fit, "; "), clock(total))
	}
	if settings == 0 {
		return nil
	}
	return f
}

// clock returns a number of seconds as text, "1h2m3s".
func clock(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
