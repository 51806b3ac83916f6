package content

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/finding"
)

// pdfHead is how many bytes of a PDF may stand in front of its header.
const pdfHead = 1024

// checkDocument looks at a document block that begins at a byte of the record.
func (n *Facts) checkDocument(at int, v gjson.Result) {
	source := v.Get("source")
	if source.Get("type").String() != "base64" || source.Get("media_type").String() != "application/pdf" {
		return
	}
	data := source.Get("data")
	problem := pdfProblem(data)
	if problem == "" {
		return
	}
	words := fmt.Sprintf("[hist: a PDF (%d bytes) stood here; the API refuses it: %s]", len(data.String())/4*3, problem)
	n.Fault(faults.BadDocument, at, "a PDF that the API refuses: "+problem,
		finding.Cut{Start: at, End: at + len(v.Raw), New: format.Object{"type": "text", "text": words}.JSON()}).Lost = 1
}

// pdfProblem says why the API refuses a PDF, as far as its first bytes show; "" if they show nothing.
func pdfProblem(data gjson.Result) string {
	text := data.String()
	if data.Type != gjson.String || text == "" {
		return "it is empty"
	}
	if api.NotBase64([]byte(text)) {
		return "its data is no base64"
	}
	head := text[:min(len(text), base64.StdEncoding.EncodedLen(pdfHead))]
	raw, err := base64.StdEncoding.DecodeString(head)
	if err == nil && !strings.Contains(string(raw), "%PDF-") {
		return "it is not a PDF"
	}
	return ""
}
