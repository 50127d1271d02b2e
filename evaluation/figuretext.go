package evaluation

import (
	"fmt"
	"strings"
)

// FigureText writes a figure of StoppedEarly and Finished for people: "accuracy 91.20 %", "loss 0.2500".
func FigureText(figure string, v float64) string {
	switch figure {
	case "loss":
		return fmt.Sprintf("loss %.4f", v)
	case "mae", "rmse", "r2", "auroc":
		return fmt.Sprintf("%s %.4g", strings.ToUpper(figure), v)
	}
	return fmt.Sprintf("%s %.2f %%", figureNames.Replace(figure), 100*v)
}

// figureNames replaces names of figures by the names that people read, where these differ.
var figureNames = strings.NewReplacer("miou", "mIoU", "f1", "macro F1", "balanced-accuracy",
	"balanced accuracy", "exact", "exact match")

// Percent writes a share of 1 for people: "91.20 %", or "-" for NaN.
func (f Figure) Percent() string {
	if f != f {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*f)
}
