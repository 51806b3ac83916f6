package claude

// key is the name of a member that content blocks have.
type key uint8

const (
	keyOther key = iota // any other key
	keyType
	keyText
	keyID
	keyName
	keyInput
	keyCaller
	keyResultID
	keyContent
	keyError
	keyThinking
	keySignature
	keyData
	keySource
	keyCitations
	keyCache
	keyParsed
	keyToolset
	keyTransformations
	keyCount
)

var keys = [keyCount]string{
	keyType: "type", keyText: "text", keyID: "id", keyName: "name", keyInput: "input", keyCaller: "caller",
	keyResultID: "tool_use_id", keyContent: "content", keyError: "is_error", keyThinking: "thinking", keySignature: "signature",
	keyData: "data", keySource: "source", keyCitations: "citations", keyCache: "cache_control", keyParsed: "parsed_output",
	keyToolset: "toolset_name", keyTransformations: "transformations",
}

// keyOf is the key of a name.
func keyOf(name []byte) key {
	for k := keyType; k < keyCount; k++ {
		if string(name) == keys[k] {
			return k
		}
	}
	return keyOther
}

// keySet is a set of keys, as bits.
type keySet uint32

func setOf(keys ...key) (s keySet) {
	for _, k := range keys {
		s |= 1 << k
	}
	return s
}

// blockKeys are the members that the API documents, by the block's type.
var blockKeys = map[string]keySet{
	"text":        setOf(keyType, keyText, keyCitations, keyCache, keyParsed),
	"thinking":    setOf(keyType, keyThinking, keySignature),
	"tool_use":    setOf(keyType, keyID, keyName, keyInput, keyCache, keyCaller, keyToolset),
	"tool_result": setOf(keyType, keyResultID, keyContent, keyError, keyCache, keyToolset),
	"image":       setOf(keyType, keySource, keyCache, keyTransformations),
}

// blockField is a field that is a member of a message's first block.
type blockField struct {
	field int
	key   key
}

// The members of the usual blocks, which mostly have no others.
var (
	textFields     = []blockField{{fieldBlockType, keyType}, {fieldBlockText, keyText}}
	thinkingFields = []blockField{{fieldBlockType, keyType}, {fieldBlockThinking, keyThinking}, {fieldBlockSignature, keySignature}}
	callFields     = []blockField{{fieldBlockType, keyType}, {fieldBlockID, keyID}, {fieldBlockName, keyName}, {fieldBlockInput, keyInput}, {fieldBlockCaller, keyCaller}}
	resultFields   = []blockField{{fieldBlockType, keyType}, {fieldResultID, keyResultID}, {fieldBlockContent, keyContent}, {fieldBlockError, keyError}}
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
