package format

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hist-cli/hist/internal/escape"
)

// sarif writes the Static Analysis Results Interchange Format, version 2.1.0.
type sarif struct {
	w      io.Writer
	about  About
	rules  map[string]int // index in the list of rules, by name
	count  int
	began  bool
	failed []sarifNotification
}

const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	projectURL   = "https://github.com/hist-cli/hist"
	resultsMark  = `"results":[]`
	sourceRootID = "%SRCROOT%"
)

func newSARIF(w io.Writer, about About) Printer {
	p := &sarif{w: escape.JSON(w), about: about, rules: map[string]int{}}
	for i, r := range about.Rules {
		p.rules[r.Name] = i
	}
	return p
}

// frame returns the parts of the log before and after its results.
func (p *sarif) frame() (head, tail []byte, err error) {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "hist", Version: p.about.Version, URL: projectURL, Rules: []sarifRule{}}},
		Bases:      map[string]sarifArtifact{sourceRootID: {Description: &sarifMessage{"the directory that hist was run in"}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Invocations: []sarifInvocation{{Successful: len(p.failed) == 0, Notifications: p.failed}},
	}
	for _, r := range p.about.Rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: r.Name, Short: sarifMessage{r.Title}, Full: sarifMessage{r.Text}, Help: sarifMessage{r.Text + "\n\nhist explain " + r.Name + " shows an example."},
			HelpURL: projectURL + "/blob/main/docs/rules/" + r.Family + ".md#" + r.Name,
			Default: sarifConfig{level(r.Impact)}, Props: sarifProperties{Tags: []string{r.Family}, Impact: r.Impact},
		})
	}
	text, err := json.Marshal(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
	if err != nil {
		return nil, nil, err
	}
	at := bytes.LastIndex(text, []byte(resultsMark)) + len(resultsMark) - 1
	return text[:at], text[at:], nil
}

// level returns the SARIF level of an impact.
func level(impact string) string {
	switch impact {
	case "notes":
		return "note"
	case "shows":
		return "warning"
	}
	return "error"
}

func (p *sarif) Session(s *Session) error {
	if err := p.begin(); err != nil {
		return err
	}
	if s.Err != nil {
		p.failed = append(p.failed, sarifNotification{"error", sarifMessage{s.Err.Error()}, []sarifLocation{{sarifPhysical{Artifact: p.artifact(s.Path)}}}})
	}
	for i := range s.Findings {
		sep := ","
		if p.count == 0 {
			sep = ""
		}
		p.count++
		if _, err := io.WriteString(p.w, sep+"\n"); err != nil {
			return err
		}
		text, err := json.Marshal(p.result(&s.Findings[i]))
		if err == nil {
			_, err = p.w.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *sarif) begin() error {
	if p.began {
		return nil
	}
	p.began = true
	head, _, err := p.frame()
	if err == nil {
		_, err = p.w.Write(head)
	}
	return err
}

func (p *sarif) result(f *Finding) sarifResult {
	place := sarifPhysical{Artifact: p.artifact(f.Path)}
	props := sarifProperties{Impact: f.Impact, Fix: f.Fix, Record: f.Record, Source: f.Source, Count: f.Count}
	if f.Line > 0 {
		place.Region = &sarifRegion{Line: f.Line}
		props.Offset = &f.Offset
		if f.LineSize > 0 {
			place.Region.Offset, place.Region.Length = &f.LineOffset, f.LineSize
		}
	}
	return sarifResult{
		RuleID: f.Rule, RuleIndex: p.rules[f.Rule], Level: level(f.Impact), Message: sarifMessage{Words(f.Message, f.Count)}, Locations: []sarifLocation{{place}},
		Prints: map[string]string{"histFinding/v2": f.Fingerprint}, Props: props,
	}
}

func (p *sarif) artifact(path string) sarifArtifact {
	uri, relative := p.about.uri(path)
	if relative {
		return sarifArtifact{URI: uri, Base: sourceRootID}
	}
	return sarifArtifact{URI: uri}
}

func (p *sarif) End() error {
	if err := p.begin(); err != nil {
		return err
	}
	_, tail, err := p.frame()
	if err == nil {
		_, err = p.w.Write(append(tail, '\n'))
	}
	return err
}
