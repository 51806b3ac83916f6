package format

import (
	_ "embed"
	"html/template"
)

//go:embed style.css
var style string

//go:embed copy.js
var copyScript string

// Style is the style sheet that the pages for a browser have in common, without its tag. It loads nothing.
var Style = template.CSS(style)

// Copy is the script that adds a button to each element of class command, without its tag. It loads nothing.
var Copy = template.JS(copyScript)
