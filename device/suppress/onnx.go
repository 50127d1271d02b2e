package suppress

// ONNXInput has the inputs and the attribute of ONNX's NonMaxSuppression, version 10 or 11.
type ONNXInput struct {
	Boxes  []float32 // [Batch, Count, 4]
	Scores []float32 // [Batch, Classes, Count]

	Batch, Classes, Count int

	MostPerClass int64    // max_output_boxes_per_class; 0: no box
	Overlap      float32  // iou_threshold
	Score        *float32 // score_threshold; nil: every score is a candidate
	Center       bool     // center_point_box: x, y, width, height; otherwise y1, x1, y2, x2 of any diagonal
}

// ONNX returns selected_indices [N, 3]: picture, class and box. They are sorted by picture, then by
// class, then by score.
func ONNX(in ONNXInput) [][3]int64 {
	var selected [][3]int64
	for b := range in.Batch {
		corners := make([]Corners, in.Count)
		for i := range corners {
			corners[i] = in.corners(in.Boxes[4*(b*in.Count+i):][:4])
		}
		for c := range in.Classes {
			scores := in.Scores[(b*in.Classes+c)*in.Count:][:in.Count]
			for _, i := range in.chooseClass(corners, scores) {
				selected = append(selected, [3]int64{int64(b), int64(c), int64(i)})
			}
		}
	}
	return selected
}

// chooseClass selects the boxes of one class in one picture.
func (in *ONNXInput) chooseClass(corners []Corners, scores []float32) []int {
	var candidates []int
	for i, s := range scores {
		if in.Score == nil && s == s || in.Score != nil && s > *in.Score {
			candidates = append(candidates, i)
		}
	}
	sortByScore(candidates, scores)
	most := int(max(0, min(in.MostPerClass, int64(len(candidates)))))
	return choose(candidates, most, corners, in.Overlap)
}

// corners converts a box of the operator.
func (in *ONNXInput) corners(v []float32) Corners {
	if in.Center {
		w, h := float32(v[2]/2), float32(v[3]/2)
		return Corners{v[0] - w, v[1] - h, v[0] + w, v[1] + h}
	}
	return Corners{min(v[1], v[3]), min(v[0], v[2]), max(v[1], v[3]), max(v[0], v[2])}
}
