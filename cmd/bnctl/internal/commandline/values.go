package commandline

import (
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
)

// CheckValue returns an error if the cli library cannot read the value of a flag. The error of the library
// is less clear.
func CheckValue(f cli.Flag, value string) error {
	var err error
	want := ""
	switch f.(type) {
	case *cli.BoolFlag:
		_, err = strconv.ParseBool(value)
		want = "true or false"
	case *cli.IntFlag:
		_, err = strconv.ParseInt(value, 0, strconv.IntSize)
		want = "a whole number"
	case *cli.Uint64Flag:
		_, err = strconv.ParseUint(value, 0, 64)
		want = "a whole number of at least 0"
	case *cli.DurationFlag:
		_, err = time.ParseDuration(value)
		want = "a time with its unit, for example 5ms"
	case *cli.Float64Flag:
		_, err = strconv.ParseFloat(value, 64)
		want = "a number"
		if d, wrong := time.ParseDuration(value); wrong == nil && d > 0 {
			want = "a number of seconds, " + strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + " for that"
		}
	}
	if err != nil {
		return Misuse("--%s %q: want %s", f.Names()[0], value, want)
	}
	return nil
}

// checkRepeated returns an error if a flag is given twice with different values, because it is not defined
// which value is used. A flag with a list as its value may be repeated.
func (r *ordering) checkRepeated(f cli.Flag, value string) error {
	switch f.(type) {
	case *cli.StringSliceFlag, *cli.IntSliceFlag:
		return nil
	}
	if r.flags == nil {
		r.flags = map[string]string{}
	}
	name := f.Names()[0]
	if was, ok := r.flags[name]; ok && was != value {
		return misadvise("leave one of them out", "--%s is given twice, with %q and with %q", name, was, value)
	}
	r.flags[name] = value
	return nil
}

// contradiction returns an error if two global switches contradict each other.
func (r *ordering) contradiction() error {
	if r.flags["quiet"] == "true" && r.flags["v"] == "true" {
		return misadvise("leave one of them out", "--quiet prints less and -v prints more")
	}
	return nil
}
