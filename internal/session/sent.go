package session

import "encoding/json"

// Sent is what a client sends of a session when it is resumed: the answer of an agent's reader. It is a value; nobody changes it.
type Sent struct {
	// Refused is why the client does not resume the session, in a sentence; "" if it does. Items are then what it would send
	// if it ignored that.
	Refused string
	// Items are in the order of the request.
	Items []Item
	// Inherited is how many of the first Items come from another session, which a fork or a sub-agent goes on from.
	Inherited int
	// Steers are the records that say which part of the session is sent: where it ends, or what was taken back.
	Steers []Pos
	// Unsent are the records of the history, in the order of the file, of which nothing is sent: what was taken back, left or
	// compacted away. It is empty if the session is refused.
	Unsent []Pos
	// Settings are what the session says of how a request is made, beside the history.
	Settings []Setting
	// Compacted is the compaction that the history begins with; zero if there is none.
	Compacted Pos
}

// The settings that sessions hold.
const (
	ProviderSetting = "model_provider"
	AgentsSetting   = "multi_agent_version"
)

// Setting is a member of a record that decides how a request is made.
type Setting struct {
	Name  string // of the member
	Pos   Pos
	Value json.RawMessage // its JSON, which points into the session's bytes
}

// Item is one item of a request: an input item of the Responses API, or a content block of the Messages API.
type Item struct {
	// Pos and Path say where it stands: the record, and the place in it as gjson reads paths ("payload",
	// "payload.replacement_history.3", "message.content.2"). Path is "" if the client makes the item up; Pos is then the record
	// that makes it do so. What the client made up earlier and then wrote has both, Path and Made.
	Pos  Pos
	Path string
	// Made is why the client makes it up, in a word ("aborted", "filler", "summary", "reminder", "interrupted"); "" if the session holds it.
	Made string

	// Message and Block are the item's place in the request, from 0, as the API's errors count: input[Message] of the Responses
	// API, where Block is -1; messages[Message].content[Block] of the Messages API.
	Message, Block int

	Kind   ItemKind
	Role   string // "user", "assistant", "developer", "system"; "" if the item has none
	ID     string // of the item; "" if it has none
	CallID string // of a call or an output: what pairs them
	Tool   string // the tool that a call names
	Bound  bool   // thinking that its model's API takes only behind what stood in front of it when it was written
	Other  bool   // a model of another maker than the API's wrote it
	Turn   int    // the turn that it belongs to, from 1 in the order of the file as `hist show` counts them; 0 if it is before the first

	// Content is the item's JSON as the session holds it. It points into the session's bytes: it is not to be changed.
	Content json.RawMessage
	// Sum is a hash of what the item says: equal for items that say the same, whatever their ids, white space and order of
	// members. It is the same in each process.
	Sum [16]byte
}

// ItemKind is what an item of a request is.
type ItemKind uint8

// The kinds of item.
const (
	TextItem      ItemKind = iota // what a person or the model said
	ImageItem                     // an image or a file
	CallItem                      // the model asks for a tool
	OutputItem                    // what a tool answered
	ReasoningItem                 // reasoning or thinking, also encrypted
	SummaryItem                   // what a compaction left of the history
	ContextItem                   // what the client tells the model about the environment
	OtherItem                     // anything else that is sent
)

// Own is how many items come from the session or what it inherits, and not from the client alone.
func (s *Sent) Own() (n int) {
	for i := range s.Items {
		if s.Items[i].Made == "" {
			n++
		}
	}
	return n
}

// From are the records that items come from.
func (s *Sent) From() map[Pos]bool {
	from := make(map[Pos]bool, len(s.Items))
	for i := range s.Items[s.Inherited:] {
		if item := &s.Items[s.Inherited+i]; item.Path != "" {
			from[item.Pos] = true
		}
	}
	return from
}

// Missing are the items of s, by index, that other does not send, or sends less often; their order does not count, nor does what
// the client makes up itself.
func (s *Sent) Missing(other *Sent) (indexes []int) {
	left := map[[16]byte]int{}
	for i := range other.Items {
		if other.Items[i].Made == "" {
			left[other.Items[i].Sum]++
		}
	}
	for i := range s.Items {
		item := &s.Items[i]
		if item.Made != "" {
			continue
		}
		if left[item.Sum] == 0 {
			indexes = append(indexes, i)
			continue
		}
		left[item.Sum]--
	}
	return indexes
}
