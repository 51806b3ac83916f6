package content

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// KeptRecord is one record that the mark of a compaction names as kept: it stands in front of the mark, and is sent behind the
// summary.
type KeptRecord struct {
	UUID string
	Span jsonl.Span // of the id in the mark, quotes included
}

// keptOf reads which records a mark names as kept, and behind which record they go. The client goes by this list alone: it ignores the two ends
// that the mark also names, and the records' parents (measured with 2.1.330).
func keptOf(rec *session.Record) (list []KeptRecord, anchor string) {
	about := format.Field(rec, format.FieldCompact)
	ids := gjson.GetBytes(about, "preservedMessages.uuids")
	gjson.Parse(ids.Raw).ForEach(func(_, id gjson.Result) bool {
		at := rec.Spans[format.FieldCompact].Start + ids.Index + id.Index
		list = append(list, KeptRecord{id.String(), jsonl.Span{Start: at, End: at + len(id.Raw)}})
		return true
	})
	return list, gjson.GetBytes(about, "preservedMessages.anchorUuid").String()
}
