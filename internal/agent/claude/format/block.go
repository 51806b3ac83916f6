package format

// Key is the name of a member that content blocks have.
type Key uint8

const (
	KeyOther Key = iota // any other key
	KeyType
	KeyText
	KeyID
	KeyName
	KeyInput
	KeyCaller
	KeyResultID
	KeyContent
	KeyError
	KeyThinking
	KeySignature
	KeyData
	KeySource
	KeyCitations
	KeyCache
	KeyParsed
	KeyToolset
	KeyTransformations
	KeyCount
)

var keys = [KeyCount]string{
	KeyType: "type", KeyText: "text", KeyID: "id", KeyName: "name", KeyInput: "input", KeyCaller: "caller",
	KeyResultID: "tool_use_id", KeyContent: "content", KeyError: "is_error", KeyThinking: "thinking", KeySignature: "signature",
	KeyData: "data", KeySource: "source", KeyCitations: "citations", KeyCache: "cache_control", KeyParsed: "parsed_output",
	KeyToolset: "toolset_name", KeyTransformations: "transformations",
}

// KeyOf is the key of a name.
func KeyOf(name []byte) Key {
	for k := KeyType; k < KeyCount; k++ {
		if string(name) == keys[k] {
			return k
		}
	}
	return KeyOther
}

// KeySet is a set of keys, as bits.
type KeySet uint32

// SetOf is the set of these keys.
func SetOf(keys ...Key) (s KeySet) {
	for _, k := range keys {
		s |= 1 << k
	}
	return s
}

// BlockKeys are the members that the API documents, by the block's type.
var BlockKeys = map[string]KeySet{
	"text":        SetOf(KeyType, KeyText, KeyCitations, KeyCache, KeyParsed),
	"thinking":    SetOf(KeyType, KeyThinking, KeySignature),
	"tool_use":    SetOf(KeyType, KeyID, KeyName, KeyInput, KeyCache, KeyCaller, KeyToolset),
	"tool_result": SetOf(KeyType, KeyResultID, KeyContent, KeyError, KeyCache, KeyToolset),
	"image":       SetOf(KeyType, KeySource, KeyCache, KeyTransformations),
}

// blockField is a field that is a member of a message's first block.
type blockField struct {
	field int
	key   Key
}

// The members of the usual blocks, which mostly have no others.
var (
	textFields     = []blockField{{FieldBlockType, KeyType}, {FieldBlockText, KeyText}}
	thinkingFields = []blockField{{FieldBlockType, KeyType}, {FieldBlockThinking, KeyThinking}, {FieldBlockSignature, KeySignature}}
	callFields     = []blockField{{FieldBlockType, KeyType}, {FieldBlockID, KeyID}, {FieldBlockName, KeyName}, {FieldBlockInput, KeyInput}, {FieldBlockCaller, KeyCaller}}
	resultFields   = []blockField{{FieldBlockType, KeyType}, {FieldResultID, KeyResultID}, {FieldBlockContent, KeyContent}, {FieldBlockError, KeyError}}
)

// fieldsOf are the members that a block of a type usually has.
func fieldsOf(kind []byte) []blockField {
	switch string(kind) {
	case "text":
		return textFields
	case "thinking":
		return thinkingFields
	case "tool_use":
		return callFields
	case "tool_result":
		return resultFields
	}
	return nil
}
