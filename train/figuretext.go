package train

import (
	"fmt"
	"strings"
)

// FigureText writes a figure of StoppedEarly and Finished for people: "accuracy 91.20 %", "loss 0.2500".
func FigureText(figure string, v float64) string {
	if figure == "loss" {
		return fmt.Sprintf("loss %.4f", v)
	}
	return fmt.Sprintf("%s %.2f %%", strings.Replace(figure, "miou", "mIoU", 1), 100*v)
}

// Percent writes a share of 1 for people: "91.20 %", or "-" for NaN.
func (f Figure) Percent() string {
	if f != f {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*f)
}
