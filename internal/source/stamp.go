package source

import "encoding/binary"

// Stamp is what shows that a file, or the list of a directory's files, has not changed.
type Stamp struct {
	Device, Inode       uint64
	Size                int64
	ModTime, ChangeTime int64 // nanoseconds since 1970: of the last change of the content, and of anything about the file
}

// Append adds a stamp to a text that is to be hashed.
func (s Stamp) Append(text []byte) []byte {
	for _, v := range [...]uint64{s.Device, s.Inode, uint64(s.Size), uint64(s.ModTime), uint64(s.ChangeTime)} {
		text = binary.LittleEndian.AppendUint64(text, v)
	}
	return text
}
