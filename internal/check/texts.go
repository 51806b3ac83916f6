package check

import (
	"embed"

	"github.com/hist-cli/hist/internal/finding"
)

//go:embed texts/*.md
var textFiles embed.FS

// texts say what this package's rules mean.
var texts = finding.Texts{Files: textFiles}
