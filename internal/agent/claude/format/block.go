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

// KeysOf are the members that the API documents of blocks of a type; ok is false for other types.
func KeysOf(kind []byte) (known KeySet, ok bool) {
	switch string(kind) {
	case "text":
		return textKeys, true
	case "thinking":
		return thinkingKeys, true
	case "tool_use":
		return callKeys, true
	case "tool_result":
		return resultKeys, true
	case "image":
		return imageKeys, true
	}
	return 0, false
}

const (
	textKeys     = 1<<KeyType | 1<<KeyText | 1<<KeyCitations | 1<<KeyCache | 1<<KeyParsed
	thinkingKeys = 1<<KeyType | 1<<KeyThinking | 1<<KeySignature
	callKeys     = 1<<KeyType | 1<<KeyID | 1<<KeyName | 1<<KeyInput | 1<<KeyCache | 1<<KeyCaller | 1<<KeyToolset
	resultKeys   = 1<<KeyType | 1<<KeyResultID | 1<<KeyContent | 1<<KeyError | 1<<KeyCache | 1<<KeyToolset
	imageKeys    = 1<<KeyType | 1<<KeySource | 1<<KeyCache | 1<<KeyTransformations
)

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
