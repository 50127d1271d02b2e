package server

import (
	"html/template"
	"math"
	"net/http"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/chart"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/tensor"
)

// activityReport describes the kind of answers of a model version, and its activity in the last minutes.
type activityReport struct {
	Model    string  `json:"model_name"`
	Version  string  `json:"model_version"`
	SHA256   string  `json:"sha256"`
	Pictures bool    `json:"pictures"` // the version accepts picture files
	Answers  string  `json:"answers"`  // classes, labels, numbers, masks, boxes or outputs
	Token    bool    `json:"token"`    // requests need a token
	Minutes  float64 `json:"minutes"`  // duration that the figures cover
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"`
	Rows     int     `json:"rows"`
	QueueMS  float64 `json:"queue_ms"` // mean per request, like the fields below
	DeviceMS float64 `json:"device_ms"`
	Slowest  float64 `json:"slowest_ms"`
	Waiting  int     `json:"waiting"` // rows in the queue, now
	MaxQueue int     `json:"max_queue"`
	Charts   []drawn `json:"charts"`
}

// drawn is a chart as SVG. Its style is given by classes of the page's style sheet.
type drawn struct {
	Title string        `json:"title"`
	SVG   template.HTML `json:"svg"`
}

// activity responds with the activity of a model in the last minutes.
func (s *Server) activity(w http.ResponseWriter, r *http.Request) error {
	m, err := s.findPath(r)
	if err != nil {
		return err
	}
	now, log := time.Now(), s.metrics.activities.get(m.name, m.label())
	waiting := m.queue.Waiting()
	log.wait(now, waiting)
	last := log.last(now)
	a := activityReport{Model: m.name, Version: m.label(), SHA256: m.sha256, Pictures: m.takesPictures() == nil,
		Answers: m.kind(), Token: s.tokens != nil, Minutes: (slots * slotTime).Minutes(), Waiting: waiting,
		MaxQueue: s.o.Queue, Charts: charts(last)}
	for i := range last {
		k := &last[i]
		a.Requests, a.Failed, a.Rows = a.Requests+k.answered+k.failed, a.Failed+k.failed, a.Rows+k.rows
		a.QueueMS, a.DeviceMS = a.QueueMS+milliseconds(k.queued), a.DeviceMS+milliseconds(k.computed)
		a.Slowest = max(a.Slowest, milliseconds(k.slowest))
	}
	if answered := float64(a.Requests - a.Failed); answered > 0 {
		a.QueueMS, a.DeviceMS = a.QueueMS/answered, a.DeviceMS/answered
	}
	writeJSON(w, http.StatusOK, a)
	return nil
}

func milliseconds(d time.Duration) float64 { return 1000 * d.Seconds() }

// charts draws the last minutes. The rates of the last slot are left out, because it has not ended yet.
func charts(last []slot) []drawn {
	ago := -(slots * slotTime).Minutes()
	newChart := func(title string, curves ...chart.Curve) drawn {
		c := chart.Chart{Title: title, X: "minutes; 0 is now", Low: ago, High: 0, Curves: curves}
		return drawn{title, chart.PageOf(&c)}
	}
	answered, failed := chart.Curve{Name: "answered"}, chart.Curve{Name: "not answered", Colour: 4}
	queued, computed := chart.Curve{Name: "in the queue", Colour: 1, Gaps: true},
		chart.Curve{Name: "on the device", Gaps: true}
	slowest := chart.Curve{Name: "slowest", Colour: 3, Dashed: true, Gaps: true}
	waiting := chart.Curve{Colour: 2}
	for i, k := range last {
		x := float64(i-len(last)+1) * slotTime.Minutes()
		mean := func(sum time.Duration) float64 {
			if k.answered == 0 {
				return math.NaN()
			}
			return milliseconds(sum) / float64(k.answered)
		}
		add := func(to *chart.Curve, y float64) { to.X, to.Y = append(to.X, x), append(to.Y, y) }
		if i < len(last)-1 {
			add(&answered, float64(k.answered)/slotTime.Seconds())
			add(&failed, float64(k.failed)/slotTime.Seconds())
		}
		add(&queued, mean(k.queued))
		add(&computed, mean(k.computed))
		add(&slowest, mean(time.Duration(k.answered)*k.slowest))
		add(&waiting, float64(k.waiting))
	}
	return []drawn{newChart("Requests a second", answered, failed),
		newChart("Milliseconds of a request, mean", queued, computed, slowest),
		newChart("Rows that wait", waiting)}
}

// takesPictures returns an error if the model does not accept picture files.
func (s *modelVersion) takesPictures() error {
	_, err := fit.Model(s.model, data.Info{Kind: "picture", DType: tensor.U8})
	return err
}

// kind returns one word for the kind of the model's answers.
func (s *modelVersion) kind() string {
	if _, err := s.maskOutput(); err == nil {
		return "masks"
	}
	switch {
	case detect.Detects(s.model):
		return "boxes"
	case s.answers.Raw:
		return "outputs"
	case s.answers.Numbers():
		return "numbers"
	case s.answers.Several():
		return "labels"
	}
	return "classes"
}
