package format

import (
	"bytes"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// The fields that Decode and the rules look at, as indexes of session.Record.Spans.
const (
	FieldType = iota
	FieldUUID
	FieldParent
	FieldLogicalParent
	FieldTimestamp
	FieldSidechain
	FieldMeta
	FieldSummary
	FieldAPIError
	FieldSession
	FieldVersion
	FieldCwd
	FieldBranch
	FieldSubtype
	FieldMessage
	FieldMessageID
	FieldRole
	FieldModel
	FieldContent
	FieldStopReason
	FieldBlockType
	FieldBlockID
	FieldResultID
	FieldBlock
	FieldBlockName
	FieldBlockInput
	FieldBlockCaller
	FieldBlockText
	FieldBlockContent
	FieldBlockError
	FieldBlockThinking
	FieldBlockSignature
	FieldSource
	FieldPromptID
	FieldToolResult
	FieldAgentID
	FieldLeaf
	FieldExplicit
	FieldLastPrompt
	FieldOperation
	FieldPlainContent
	FieldHash
	FieldTail
	FieldBase
	FieldKeep
	FieldID
	FieldCompact
	FieldMessageRef
	FieldAttachment
	FieldDenial
	FieldEntrypoint
	FieldHist
	FieldRequestID
	FieldRequestRef
	FieldBlockIndex
	FieldCount
)

var paths = [FieldCount]string{
	FieldType: "type", FieldUUID: "uuid", FieldParent: "parentUuid", FieldLogicalParent: "logicalParentUuid",
	FieldTimestamp: "timestamp", FieldSidechain: "isSidechain", FieldMeta: "isMeta", FieldSummary: "isCompactSummary",
	FieldAPIError: "isApiErrorMessage", FieldSession: "sessionId", FieldVersion: "version", FieldCwd: "cwd",
	FieldBranch: "gitBranch", FieldSubtype: "subtype", FieldMessage: "message", FieldMessageID: "message.id",
	FieldRole: "message.role", FieldModel: "message.model", FieldContent: "message.content",
	FieldStopReason: "message.stop_reason", FieldBlockType: "message.content.[0].type",
	FieldBlockID: "message.content.[0].id", FieldResultID: "message.content.[0].tool_use_id",
	FieldBlock: "message.content.[0]", FieldBlockName: "message.content.[0].name", FieldBlockInput: "message.content.[0].input",
	FieldBlockCaller: "message.content.[0].caller", FieldBlockText: "message.content.[0].text",
	FieldBlockContent: "message.content.[0].content", FieldBlockError: "message.content.[0].is_error",
	FieldBlockThinking: "message.content.[0].thinking", FieldBlockSignature: "message.content.[0].signature",
	FieldSource: "sourceToolAssistantUUID", FieldPromptID: "promptId", FieldToolResult: "toolUseResult",
	FieldAgentID: "agentId", FieldLeaf: "leafUuid", FieldExplicit: "explicit", FieldLastPrompt: "lastPrompt",
	FieldOperation: "operation", FieldPlainContent: "content", FieldHash: "hash", FieldTail: "tail", FieldBase: "base",
	FieldKeep: "keep", FieldID: "id", FieldCompact: "compactMetadata", FieldMessageRef: "messageId",
	FieldAttachment: "attachment.type", FieldDenial: "toolDenialKind", FieldEntrypoint: "entrypoint", FieldHist: "hist",
	FieldRequestID: "requestId", FieldRequestRef: "requestRef", FieldBlockIndex: "apiBlockIndex",
}

// Shape is where these fields stand.
var Shape = mustCompile(paths[:])

func mustCompile(paths []string) *jsonl.Shape {
	s, err := jsonl.Compile(paths...)
	if err != nil {
		panic(err) // the paths are constants
	}
	return s
}

// Field is the bytes of a field as they stand in the record, nil if it is absent.
func Field(rec *session.Record, f int) []byte {
	if s := rec.Spans[f]; s.End > s.Start {
		return s.Of(rec.Raw)
	}
	return nil
}

// Text is a string field without its quotes, still escaped as in the record; nil if it is absent or not a string. Use it to
// compare with words that a client writes without escapes; what is kept or written again must be decoded.
func Text(rec *session.Record, f int) []byte {
	raw := Field(rec, f)
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// Decoded is a string field with its escapes resolved, "" if it is absent or no string.
func Decoded(rec *session.Record, f int) string {
	raw := Field(rec, f)
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	s, _ := jsonl.Unquote(raw)
	return s
}

// said is a field's value, and its bytes in the record: usually the next record has the same, and need not be decoded.
type said struct{ Words, raw string }

// Take reads the field of the next record; if that has none, the old value stays.
func (s *said) Take(rec *session.Record, f int) {
	raw := Field(rec, f)
	if string(raw) == s.raw {
		return
	}
	if words := Decoded(rec, f); words != "" {
		s.Words, s.raw = words, string(raw)
	}
}

// IsTrue says whether a field is the word true.
func IsTrue(rec *session.Record, f int) bool { return string(Field(rec, f)) == "true" }
