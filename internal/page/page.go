// Package page holds what the pages for a browser have in common: the style sheet, and the script that adds a copy button to
// each command. In: nothing. Out: text for a template. Neither loads anything.
package page

import (
	_ "embed"
	"html/template"
)

//go:embed style.css
var style string

//go:embed copy.js
var copyScript string

// Style is the style sheet, without its tag.
var Style = template.CSS(style)

// Copy is the script that adds a button to each element of class command, without its tag.
var Copy = template.JS(copyScript)
