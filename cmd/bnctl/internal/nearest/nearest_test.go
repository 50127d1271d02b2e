package nearest

import (
	"strings"
	"testing"
)

// TestName checks that distant names are not suggested.
func TestName(t *testing.T) {
	flags := strings.Fields("--patience --preprocess --precision --devices --data --batch --lr --model --momentum")
	for got, want := range map[string]string{"--pretrained": "", "--device": "--devices", "--dvices": "--devices",
		"--batch-size": "--batch", "--datas": "--data", "--prec": "--precision", "--xyz": "", "--Model": "--model",
		"--momentun": "--momentum", "--learning-rate": ""} {
		if name := Name(got, flags); name != "" && !strings.Contains(name, `"`+want+`"`) || name == "" != (want == "") {
			t.Errorf("%s: %s, want %q", got, name, want)
		}
	}
	for got, want := range map[string]string{"adam": "adamw", "sdg": "sgd", "rmsprop": "", "lasr": "lars", "adamW": "adamw"} {
		if name := Name(got, []string{"sgd", "adamw", "lars"}); name == "" != (want == "") || !strings.Contains(name, want) {
			t.Errorf("%s: %s, want %q", got, name, want)
		}
	}
}
