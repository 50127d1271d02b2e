package average

import "github.com/bnctl/bnctl/objects"

// Agreement compares the detections of two detectors on the same pictures. Two detectors of
// equal precision may still find different objects.
type Agreement struct {
	Score      float64 `json:"score"`      // only detections with at least this score are counted
	Overlap    float64 `json:"overlap"`    // two detections must overlap at least this much to agree
	Detections int     `json:"detections"` // number of detections of the detector
	Others     int     `json:"others"`     // number of detections of the other detector
	Agreeing   int     `json:"agreeing"`   // pairs of a detection of each detector, with the same class
	AP         float64 `json:"ap"`         // COCO's AP of the other detector
	AP50       float64 `json:"ap50"`
	// APDifference and AP50Difference are the figures of the detector minus the figures of the other detector.
	APDifference   float64 `json:"ap_difference"`
	AP50Difference float64 `json:"ap50_difference"`
}

// Agree compares the detections of two detectors. Only detections with at least the given score are paired,
// as Judge pairs objects and detections.
func Agree(s *objects.Set, found, other []Detection, score, overlap float64) *Agreement {
	its := &objects.Set{Classes: s.Classes, Pictures: make([]objects.Picture, len(s.Pictures))}
	a := &Agreement{Score: score, Overlap: overlap}
	for _, d := range other {
		if d.Score >= score {
			p := &its.Pictures[d.Picture]
			p.Objects = append(p.Objects, objects.Object{Class: d.Class, Box: d.Box})
			a.Others++
		}
	}
	for _, j := range Judge(its, found, score, overlap) {
		a.Detections += len(j.Detections)
		for d, o := range j.Objects {
			if o >= 0 && its.Pictures[j.Picture].Objects[o].Class == j.Detections[d].Class {
				a.Agreeing++
			}
		}
	}
	this, that := COCO(s, found), COCO(s, other)
	a.AP, a.APDifference = that.AP, this.AP-that.AP
	a.AP50, a.AP50Difference = that.AP50, this.AP50-that.AP50
	return a
}

// Fraction returns the fraction of the counted detections of both detectors that agree. It is 1 if there are
// no detections.
func (a *Agreement) Fraction() float64 {
	if a.Detections+a.Others == 0 {
		return 1
	}
	return float64(2*a.Agreeing) / float64(a.Detections+a.Others)
}
