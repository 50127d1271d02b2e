package caffe

import (
	"fmt"
	"strconv"

	"github.com/bnctl/bnctl/formats/internal/message"
)

// checkSettings rejects a layer with unsupported settings: unknown fields, and unsupported
// values. Settings for other types of layers have no effect in Caffe. They are accepted if
// Caffe knows them.
func (l *layer) checkSettings(k kind) error {
	for number := range l.params {
		if settingsOf(number) == nil && !unread[number] {
			return fmt.Errorf("settings in field %d of the layer, which is not one of Caffe's: "+
				"a fork of Caffe wrote the file", number)
		}
	}
	if l.odd != 0 {
		return fmt.Errorf("field %d of the layer is not one of Caffe's: a fork of Caffe wrote the file", l.odd)
	}
	s := settingsOf(k.param)
	if s == nil {
		return nil
	}
	return message.Walk(l.params[k.param], func(f message.Field) error {
		known := messageNamed(s.kind).field(f.Number)
		switch {
		case known == nil:
			return fmt.Errorf("field %d of %s is not one that bnctl knows: docs/formats.md lists those",
				f.Number, s.name)
		case len(known.use) > 1 && known.use[0] == '=' && strconv.FormatUint(f.Bits, 10) != known.use[1:]:
			return fmt.Errorf("%s of %s is %d; only %s is supported", known.name, s.name, int64(f.Bits),
				known.use[1:])
		}
		return nil
	})
}

// unread are the fields of LayerParameter that hold settings of unsupported types of
// layers. They have no effect on layers of supported types.
var unread = map[int]bool{103: true, 105: true, 111: true, 113: true, 120: true, 128: true, 132: true,
	134: true, 136: true, 137: true, 145: true, 146: true, 147: true, 148: true}
