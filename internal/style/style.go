// Package style has the style sheet of all pages that bnctl writes or serves: reports, studies, predictions,
// the server's page. It has light and dark colours, and is for screens of at least 400 pixels and for paper.
package style

import _ "embed"

//go:embed style.css
var sheet string

// CSS returns the style sheet.
func CSS() string { return sheet }
