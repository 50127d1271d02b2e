package predict

import (
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/tensor"
)

// The rule of answers is in package answer, so that programs without processes can use it.
type (
	// Answers is the rule that makes answers of a model's outputs.
	Answers = answer.Answers
	// AnswerOptions select outputs of a model, and their form.
	AnswerOptions = answer.Options
	// Class is one class of a prediction.
	Class = answer.Class
	// Value is a number of a prediction.
	Value = answer.Value
	// NotFinite is the error of a sample without a class.
	NotFinite = answer.NotFinite
	// Terms are the settings that outputs depend on in addition to model and input.
	Terms = answer.Terms
)

// NewAnswers calls answer.New.
func NewAnswers(m *models.Model, o AnswerOptions) (*Answers, error) { return answer.New(m, o) }

// Label calls answer.Label.
func Label(m *models.Model, i int) string { return answer.Label(m, i) }

// Classifies calls answer.Classifies.
func Classifies(m *models.Model) bool { return answer.Classifies(m) }

// PixelClasses calls answer.PixelClasses.
func PixelClasses(output string, scores tensor.Tensor) ([]byte, error) {
	return answer.PixelClasses(output, scores)
}

// TrainedOn calls answer.TrainedOn.
func TrainedOn(m *models.Model) Terms { return answer.TrainedOn(m) }
