package format

import "io"

// What became of a session.
const (
	Linted     = "linted"     // read to its end
	Unreadable = "unreadable" // the error says why
	Unclaimed  = "unclaimed"  // no agent that hist knows wrote it
)

// Row is one session in numbers, healthy ones too, so that shares can be counted. It holds no word of a conversation.
type Row struct {
	Path          string `json:"path"`
	StoredBytes   int64  `json:"stored_bytes"`
	Bytes         int64  `json:"bytes"` // uncompressed
	Agent         string `json:"agent"`
	ClientVersion string `json:"client_version"`
	ThreadID      string `json:"thread_id"`
	Started       string `json:"started"` // as its name says, in the client's time; "" if it does not
	Records       int64  `json:"records"`
	Items         int64  `json:"items"`      // of the model's history, once mended
	ItemsSeen     int64  `json:"items_seen"` // that the client reads as the file is
	Findings      int64  `json:"findings"`
	Worst         string `json:"worst"` // impact, "" without a finding
	Outcome       string `json:"outcome"`
	Error         string `json:"error"`
	HistVersion   string `json:"hist_version"`
}

// rows writes one object a session.
type rows struct{ w io.Writer }

func newRows(w io.Writer, _ About) Printer { return &rows{w} }

func (p *rows) Session(s *Session) error {
	if s.Row == nil {
		return nil // not a session but what lies beside some
	}
	return Write(p.w, s.Row)
}

func (p *rows) End() error { return nil }
