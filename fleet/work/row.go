package work

import "time"

// SessionRow is what is known of one object after it was linted. Healthy ones have a row, too, so that percentages can be
// computed. No column holds a word of a conversation.
type SessionRow struct {
	RunID         string    `parquet:"run_id,dict" json:"run_id"`
	Store         string    `parquet:"store,dict" json:"store"` // the address that keys are relative to
	Key           string    `parquet:"key" json:"key"`
	ETag          string    `parquet:"etag" json:"etag"`
	StoredBytes   int64     `parquet:"stored_bytes" json:"stored_bytes"`
	Modified      time.Time `parquet:"modified,timestamp(millisecond)" json:"modified"`
	Bytes         int64     `parquet:"bytes" json:"bytes"` // uncompressed
	Agent         string    `parquet:"agent,dict" json:"agent"`
	ClientVersion string    `parquet:"client_version,dict" json:"client_version"`
	ThreadID      string    `parquet:"thread_id" json:"thread_id"`
	Owner         string    `parquet:"owner,dict" json:"owner"`     // what --owner found in the key
	Repo          string    `parquet:"repo,dict" json:"repo"`       // the URL of the working directory's git repository, as the session says
	Started       string    `parquet:"started,dict" json:"started"` // the day that the key names, "" if it names none
	Records       int64     `parquet:"records" json:"records"`
	Items         int64     `parquet:"items" json:"items"`           // items of the model's history, as a repair would leave it
	ItemsSeen     int64     `parquet:"items_seen" json:"items_seen"` // items that the client reads from the file as it is
	Findings      int64     `parquet:"findings" json:"findings"`
	Worst         string    `parquet:"worst,dict" json:"worst"` // impact, "" without a finding
	Outcome       string    `parquet:"outcome,dict" json:"outcome"`
	Error         string    `parquet:"error" json:"error"`
	HistVersion   string    `parquet:"hist_version,dict" json:"hist_version"`
	ConfigHash    string    `parquet:"config_hash,dict" json:"config_hash"`
	LintMillis    int64     `parquet:"lint_ms" json:"lint_ms"`
}

// The outcomes of an object.
const (
	Linted     = "linted"     // read to its end
	Cached     = "cached"     // unchanged since an earlier run, whose row this is
	Changed    = "changed"    // no longer the object that was planned
	Unclaimed  = "unclaimed"  // no agent that hist knows wrote it
	Unreadable = "unreadable" // the error says why
)

// FindingRow is one finding.
type FindingRow struct {
	RunID         string `parquet:"run_id,dict" json:"run_id"`
	Key           string `parquet:"key,dict" json:"key"`
	Rule          string `parquet:"rule,dict" json:"rule"`
	Impact        string `parquet:"impact,dict" json:"impact"`
	Fix           string `parquet:"fix,dict" json:"fix"`
	Record        string `parquet:"record,dict" json:"record"`
	Line          int64  `parquet:"line" json:"line"`     // 1-based, 0 for the session as a whole
	Offset        int64  `parquet:"offset" json:"offset"` // 0-based byte of the uncompressed session
	Count         int64  `parquet:"count" json:"count"`
	Message       string `parquet:"message" json:"message"`
	ClientVersion string `parquet:"client_version,dict" json:"client_version"`
}

// Result is the result of linting one object.
type Result struct {
	Session  SessionRow
	Findings []FindingRow
	// Transient says that it could not be read because the store did not answer, so that another try may help.
	Transient bool
}
