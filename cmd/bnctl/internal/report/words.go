package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bnctl/bnctl/internal/chart"
)

// percent returns a fraction from 0 to 1 as a percentage: "91.20 %", or "-" for NaN.
func percent(v float64) string {
	if !chart.Finite(v) {
		return "-"
	}
	return strconv.FormatFloat(100*v, 'f', 2, 64) + " %"
}

// coarse formats a fraction like percent, but without decimals.
func coarse(v float64) string {
	if !chart.Finite(v) {
		return "-"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
}

// number4 returns a loss as text, with four decimals.
func number4(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case math.Abs(v) >= 1000:
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// digits formats a statistic with three significant digits.
func digits(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// thousands formats a whole number in groups of three digits.
func thousands(v float64) string {
	if !chart.Finite(v) {
		return "-"
	}
	text := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	var out strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 && text[i-1] != '-' {
			out.WriteRune('\u202f')
		}
		out.WriteRune(c)
	}
	return out.String()
}

// duration formats seconds for people: "4.9 s", "12 min 3 s", "2 h 5 min".
func duration(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
