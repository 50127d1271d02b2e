// Package style has the style sheet of all pages that bnctl writes or serves: reports, studies,
// predictions, the server's page. Light and dark, for screens from 400 pixels on and for paper.
package style

import _ "embed"

//go:embed style.css
var sheet string

// CSS returns the style sheet.
func CSS() string { return sheet }
