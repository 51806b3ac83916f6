package format

import "io"

// The outcomes of linting a session.
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
	Started       string `json:"started"` // from the file's name, in the client's time zone; "" if it does not say
	Records       int64  `json:"records"`
	Items         int64  `json:"items"`      // items of the model's history, as a repair would leave it
	ItemsSeen     int64  `json:"items_seen"` // items that the client reads from the file as it is
	Findings      int64  `json:"findings"`
	Worst         string `json:"worst"` // the worst finding's impact, "" without a finding
	Outcome       string `json:"outcome"`
	Error         string `json:"error"`
	HistVersion   string `json:"hist_version"`
}

// rows writes one object a session.
type rows struct{ w io.Writer }

func newRows(w io.Writer, _ About) Printer { return &rows{w} }

func (p *rows) Session(s *Session) error {
	if s.Row == nil {
		return nil // not a session, but a file beside sessions
	}
	return Write(p.w, s.Row)
}

func (p *rows) End() error { return nil }
