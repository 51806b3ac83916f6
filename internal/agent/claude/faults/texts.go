package faults

import (
	"embed"

	"github.com/hist-cli/hist/internal/finding"
)

//go:embed texts/*.md effects/*.md
var textFiles embed.FS

// texts say what this package's rules mean, and what the agent does with damage that any agent's session may have.
var texts = finding.Texts{Files: textFiles}
