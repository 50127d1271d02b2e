package boxes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/average"
)

// EvalCommand returns the command data eval.
func EvalCommand(output func(*cli.Context) Output) *cli.Command {
	return &cli.Command{
		Name:      "eval",
		Usage:     "average precision of detections: COCO's and PASCAL VOC's figures",
		ArgsUsage: "SRC RESULTS",
		Description: `SRC has annotated boxes: voc:FOLDER, coco:FILE, yolo:FOLDER; with @train, @val or
@test that split. RESULTS is a JSON file in COCO's results format, with the numbers or
names of pictures and classes:

   [{"image_id": 1, "category_id": 1, "bbox": [x, y, width, height], "score": 0.9}]

A figure is -1 if the set has no object for it.

   bnctl data eval coco:instances_val2017.json results.json
   bnctl data eval voc:bccd.tar.gz@test results.json --json`,
		Action: func(c *cli.Context) error { return evaluate(c, output(c)) },
	}
}

// maxResults is the largest file of detections, in bytes.
const maxResults = 1 << 30

func evaluate(c *cli.Context, out Output) error {
	if c.NArg() != 2 {
		return commandline.Misuse("data eval needs SRC and RESULTS: annotated boxes, and a JSON file of " +
			"detections")
	}
	s, err := objects.Open(c.Context, c.Args().Get(0), objects.Options{OnlyAnnotations: true})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CheckObjects(); err != nil {
		return err
	}
	file := c.Args().Get(1)
	b, err := regular.Read(file, maxResults)
	if err != nil {
		return err
	}
	found, err := average.ReadResults(b, s)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	Report(out, "data_eval", s, found)
	return nil
}

// Report prints the figures of the detections found on the set s, as text or as the given event.
func Report(out Output, event string, s *objects.Set, found []average.Detection) {
	coco, voc := average.COCO(s, found), average.VOC(s, found)
	confusion := average.Confuse(s, found, average.ConfusedScore, average.ConfusedOverlap)
	out.Event(event, map[string]any{"source": s.Spec, "pictures": len(s.Pictures),
		"detections": len(found), "coco": coco, "voc": voc, "confusion": confusion})
	for _, line := range append(evalLines(coco, voc), confusionLines(s.Classes, confusion)...) {
		out.Result("%s", line)
	}
}

// confusionLines returns a line for each class with objects. It states the classes predicted for these
// objects.
func confusionLines(classes []string, c *average.Confusion) (lines []string) {
	for i, row := range c.Counts {
		name, last := "background", "" // the last row has detections without an object
		if i < len(classes) {
			name, last = classes[i], fmt.Sprintf("%d missed", row[len(classes)])
		}
		var found []string
		for k, n := range row[:len(classes)] {
			if n > 0 {
				found = append(found, fmt.Sprintf("%d as %s", n, classes[k]))
			}
		}
		if last != "" {
			found = append(found, last)
		}
		if slices.Max(row) > 0 {
			lines = append(lines, fmt.Sprintf("found    %s: %s", name, strings.Join(found, ", ")))
		}
	}
	return lines
}

// evalLines returns the figures as text.
func evalLines(c *average.COCOFigures, v *average.VOCFigures) []string {
	lines := []string{
		fmt.Sprintf("AP       %.4f  at 0.50 %.4f, at 0.75 %.4f; small %.4f, medium %.4f, large %.4f", c.AP,
			c.AP50,
			c.AP75, c.APSmall, c.APMedium, c.APLarge),
		fmt.Sprintf("recall   %.4f  with 1 detection %.4f, with 10 %.4f; small %.4f, medium %.4f, large %.4f",
			c.AR100,
			c.AR1, c.AR10, c.ARSmall, c.ARMedium, c.ARLarge),
		fmt.Sprintf("VOC      %.4f  of 11 points %.4f", v.AP50, v.AP50Points),
	}
	for i, class := range c.Classes {
		const form = "class    %s: AP %.4f, at 0.50 %.4f; VOC %.4f; best F1 %.4f at score %.4g"
		lines = append(lines, fmt.Sprintf(form, class.Name, class.AP, class.AP50,
			v.Classes[i].AP50, v.Classes[i].F1, v.Classes[i].Threshold))
	}
	return lines
}
