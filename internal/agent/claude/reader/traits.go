package reader

import "github.com/hist-cli/hist/internal/session"

// Traits is what differs between versions in what they send. The zero value is the newest that was measured.
type Traits struct {
	ByTime      bool // begins at the record with the latest time, not where the file says
	EndsOnHooks bool // may begin at a progress record
	NoHealing   bool // takes no other parent for one that is missing
	Alone       bool // sends the way up alone: no parts of answers and no outputs that hang beside it, and no filler for a killed call
	NoProgress  bool // does not follow progress records
	CircleBad   bool // does not come to an end if the parents go round
	NullBad     bool // refuses a session with a message without content
	LinesAlone  bool // reads no record behind which more stands on its line
	BOMBad      bool // does not read the first line behind a byte order mark
	SendsEmpty  bool // sends texts of an answer that are empty
	Unmerged    bool // sends parts of one answer apart if outputs stand between them
	Opens       bool // puts a reminder in front of the first message
	CommandsOff bool // does not send what system/local_command records say
	FillsErrors bool // says that nothing was requested behind what it told about an error, too
	OldThoughts bool // sends the signed thinking of models before 4.5
	LargeImages bool // sends images over the API's limit
	WholeFront  bool // sends what stands in front of a compaction that keeps records, if the way leads there
}

// traits are those of all versions before one, the oldest first; a version that is before none of them has the newest's. Measured
// are 1.0.17, 1.0.128, 2.0.29, 2.1.2, 2.1.100, 2.1.215 and 2.1.330 to 2.1.332, and where 2.1.30 and 2.1.78 begin; what lies between two of
// them reads as the older one. Not measured of versions before 2.1.330 are Unmerged, which goes by the newest, and OldThoughts;
// LargeImages and WholeFront were measured of 2.1.2.
var traits = []struct {
	before string
	Traits
}{
	{"2.0.29", Traits{ByTime: true, LinesAlone: true, NoHealing: true, Alone: true, NoProgress: true, CircleBad: true, NullBad: true, BOMBad: true, SendsEmpty: true, Opens: true, CommandsOff: true, FillsErrors: true, OldThoughts: true, LargeImages: true, WholeFront: true}},
	{"2.1.30", Traits{ByTime: true, LinesAlone: true, NoHealing: true, Alone: true, NoProgress: true, CircleBad: true, NullBad: true, SendsEmpty: true, CommandsOff: true, OldThoughts: true, LargeImages: true, WholeFront: true}},
	{"2.1.100", Traits{ByTime: true, LinesAlone: true, EndsOnHooks: true, NoHealing: true, Alone: true, CircleBad: true, NullBad: true, SendsEmpty: true, CommandsOff: true, OldThoughts: true, LargeImages: true, WholeFront: true}},
	{"2.1.215", Traits{ByTime: true, LinesAlone: true, NullBad: true, Opens: true, CommandsOff: true, OldThoughts: true, LargeImages: true, WholeFront: true}},
	{"2.1.216", Traits{NullBad: true, Opens: true, CommandsOff: true, OldThoughts: true, LargeImages: true, WholeFront: true}},
}

// Of are the traits of a version; "" is the newest.
func Of(version string) Traits {
	for _, t := range traits {
		if session.VersionBefore(version, t.before) {
			return t.Traits
		}
	}
	return Traits{}
}
