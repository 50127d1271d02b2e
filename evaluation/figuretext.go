package evaluation

import (
	"fmt"
	"strings"
)

// FigureText returns a figure with its name and unit, as messages show it: "accuracy 91.20 %", "loss 0.2500".
// figure is a name as in train.StoppedEarly and train.Finished.
func FigureText(figure string, v float64) string {
	switch figure {
	case "loss":
		return fmt.Sprintf("loss %.4f", v)
	case "mae", "rmse", "r2", "auroc":
		return fmt.Sprintf("%s %.4g", strings.ToUpper(figure), v)
	}
	return fmt.Sprintf("%s %.2f %%", figureNames.Replace(figure), 100*v)
}

// figureNames replaces the names of figures by the names that messages show, where these differ.
var figureNames = strings.NewReplacer("miou", "mIoU", "f1", "macro F1", "balanced-accuracy",
	"balanced accuracy", "exact", "exact match")

// Percent returns a figure from 0 to 1 as a percentage: "91.20 %", or "-" for NaN.
func (f Figure) Percent() string {
	if f != f {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*f)
}
