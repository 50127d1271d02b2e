package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/internal/style"
)

// luminance returns the relative luminance of "#RRGGBB", as defined by WCAG 2.1.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != len("#rrggbb") {
		t.Fatalf("%q is no colour", colour)
	}
	sum := 0.0
	for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
		v := float64(n>>(8*i)&0xff) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += float64(weight * v)
	}
	return sum
}

// The numbers in the cells of a heat map must be readable: their contrast is at least 4.5, as WCAG 2.1
// requires, in the light and in the dark colours of the page.
func TestNumbersOnHeatCanBeRead(t *testing.T) {
	sheets := strings.SplitN(style.CSS(), "@media screen and (prefers-color-scheme: dark)", 2)
	for scheme, sheet := range sheets {
		value := func(name string) string {
			return regexp.MustCompile(`--` + name + `: (#[0-9a-f]{6})`).FindStringSubmatch(sheet)[1]
		}
		for level := range heats {
			letters := onHeat(level)
			if pair := regexp.MustCompile(`light-dark\((.*),(.*)\)`).FindStringSubmatch(letters); pair != nil {
				letters = pair[1+scheme]
			}
			if letters == "var(--ink)" {
				letters = value("ink")
			}
			a, b := luminance(t, letters), luminance(t, value(fmt.Sprintf("heat%d", level)))
			if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
				t.Errorf("scheme %d, level %d: contrast %.2f", scheme, level, contrast)
			}
		}
	}
}
