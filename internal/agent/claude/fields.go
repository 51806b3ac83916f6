package claude

import (
	"bytes"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// The fields that Decode and the rules look at, as indexes of session.Record.Spans.
const (
	fieldType = iota
	fieldUUID
	fieldParent
	fieldLogicalParent
	fieldTimestamp
	fieldSidechain
	fieldMeta
	fieldSummary
	fieldAPIError
	fieldSession
	fieldVersion
	fieldCwd
	fieldBranch
	fieldSubtype
	fieldMessage
	fieldMessageID
	fieldRole
	fieldModel
	fieldContent
	fieldStopReason
	fieldBlockType
	fieldBlockID
	fieldResultID
	fieldBlock
	fieldBlockName
	fieldBlockInput
	fieldBlockCaller
	fieldBlockText
	fieldBlockContent
	fieldBlockError
	fieldBlockThinking
	fieldBlockSignature
	fieldSource
	fieldPromptID
	fieldToolResult
	fieldAgentID
	fieldLeaf
	fieldExplicit
	fieldLastPrompt
	fieldOperation
	fieldPlainContent
	fieldHash
	fieldTail
	fieldBase
	fieldKeep
	fieldID
	fieldCompact
	fieldMessageRef
	fieldAttachment
	fieldDenial
	fieldEntrypoint
	fieldHist
	fieldRequestID
	fieldRequestRef
	fieldBlockIndex
	fieldCount
)

var paths = [fieldCount]string{
	fieldType: "type", fieldUUID: "uuid", fieldParent: "parentUuid", fieldLogicalParent: "logicalParentUuid",
	fieldTimestamp: "timestamp", fieldSidechain: "isSidechain", fieldMeta: "isMeta", fieldSummary: "isCompactSummary",
	fieldAPIError: "isApiErrorMessage", fieldSession: "sessionId", fieldVersion: "version", fieldCwd: "cwd",
	fieldBranch: "gitBranch", fieldSubtype: "subtype", fieldMessage: "message", fieldMessageID: "message.id",
	fieldRole: "message.role", fieldModel: "message.model", fieldContent: "message.content",
	fieldStopReason: "message.stop_reason", fieldBlockType: "message.content.[0].type",
	fieldBlockID: "message.content.[0].id", fieldResultID: "message.content.[0].tool_use_id",
	fieldBlock: "message.content.[0]", fieldBlockName: "message.content.[0].name", fieldBlockInput: "message.content.[0].input",
	fieldBlockCaller: "message.content.[0].caller", fieldBlockText: "message.content.[0].text",
	fieldBlockContent: "message.content.[0].content", fieldBlockError: "message.content.[0].is_error",
	fieldBlockThinking: "message.content.[0].thinking", fieldBlockSignature: "message.content.[0].signature",
	fieldSource: "sourceToolAssistantUUID", fieldPromptID: "promptId", fieldToolResult: "toolUseResult",
	fieldAgentID: "agentId", fieldLeaf: "leafUuid", fieldExplicit: "explicit", fieldLastPrompt: "lastPrompt",
	fieldOperation: "operation", fieldPlainContent: "content", fieldHash: "hash", fieldTail: "tail", fieldBase: "base",
	fieldKeep: "keep", fieldID: "id", fieldCompact: "compactMetadata", fieldMessageRef: "messageId",
	fieldAttachment: "attachment.type", fieldDenial: "toolDenialKind", fieldEntrypoint: "entrypoint", fieldHist: "hist",
	fieldRequestID: "requestId", fieldRequestRef: "requestRef", fieldBlockIndex: "apiBlockIndex",
}

var shape = mustCompile(paths[:])

func mustCompile(paths []string) *jsonl.Shape {
	s, err := jsonl.Compile(paths...)
	if err != nil {
		panic(err) // the paths are constants
	}
	return s
}

// field is the bytes of a field as they stand in the record, nil if it is absent.
func field(rec *session.Record, f int) []byte {
	if s := rec.Spans[f]; s.End > s.Start {
		return s.Of(rec.Raw)
	}
	return nil
}

// text is a string field without its quotes, still escaped as in the record; nil if it is absent or not a string. Use it to
// compare with words that a client writes without escapes; what is kept or written again must be decoded.
func text(rec *session.Record, f int) []byte {
	raw := field(rec, f)
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// decoded is a string field with its escapes resolved, "" if it is absent or no string.
func decoded(rec *session.Record, f int) string {
	raw := field(rec, f)
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
type said struct{ words, raw string }

// take reads the field of the next record; if that has none, the old value stays.
func (s *said) take(rec *session.Record, f int) {
	raw := field(rec, f)
	if string(raw) == s.raw {
		return
	}
	if words := decoded(rec, f); words != "" {
		s.words, s.raw = words, string(raw)
	}
}

func isTrue(rec *session.Record, f int) bool { return string(field(rec, f)) == "true" }
