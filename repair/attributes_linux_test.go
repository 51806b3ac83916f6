package repair

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	accessList  = "system.posix_acl_access"
	defaultList = "system.posix_acl_default" // of a directory: what its new files get
)

// listOf is an access list by which another user may read and write, and the group nothing.
func listOf(t *testing.T) []byte {
	t.Helper()
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct{ tag, rights uint16 }{{1, 6}, {2, 6}, {4, 0}, {16, 6}, {32, 0}} {
		id := uint32(1<<32 - 1)
		if e.tag == 2 {
			id = 4711
		}
		list = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(list, e.tag), e.rights)
		list = binary.LittleEndian.AppendUint32(list, id)
	}
	return list
}

func attribute(path, name string) string {
	text := make([]byte, 1024)
	n, err := unix.Lgetxattr(path, name, text)
	if err != nil {
		return ""
	}
	return string(text[:n])
}

// TestAttributesStay: a session keeps its access list and the attributes that programs have set, when it is replaced and when that is
// undone; a copy has the list. Without it, the mode would let the group read and write. One without a list gets none from its directory.
func TestAttributesStay(t *testing.T) {
	home, path, _ := inHome(t)
	list := listOf(t)
	if err := unix.Setxattr(path, accessList, list, 0); err != nil {
		t.Skip(err)
	}
	if err := unix.Setxattr(path, "user.note", []byte("mine"), 0); err != nil {
		t.Skip(err)
	}
	plain := filepath.Join(filepath.Dir(path), "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981290.jsonl")
	put(t, plain, bytes.ReplaceAll(mustRead(t, path), []byte("01a1fa85-897f-7b72-87b7-f6ebde981289"), []byte("01a1fa85-897f-7b72-87b7-f6ebde981290")))
	if err := os.Chmod(plain, 0o640); err != nil {
		t.Fatal(err)
	}
	has := func(when, path string, note string) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o670 != 0o660 || attribute(path, accessList) != string(list) || attribute(path, "user.note") != note {
			t.Errorf("%s: mode %v, list %x, note %q, %v", when, info.Mode(), attribute(path, accessList), attribute(path, "user.note"), err)
		}
	}
	copied, err := repairAt(t, home, path, NewThread)
	if err != nil {
		t.Fatal(err)
	}
	has("a copy", copied.Target, "")
	if err := undo(t, copied.Run); err != nil {
		t.Fatal(err)
	}
	rep, err := repairInPlace(t, home, path)
	if err != nil {
		t.Fatal(err)
	}
	has("replaced", path, "mine")
	if err := undo(t, rep.Run); err != nil {
		t.Fatal(err)
	}
	has("undone", path, "mine")
	if err := unix.Setxattr(filepath.Dir(path), defaultList, list, 0); err != nil {
		t.Skip(err)
	}
	if _, err := repairInPlace(t, home, plain); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(plain); err != nil || info.Mode().Perm() != 0o640 || attribute(plain, accessList) != "" {
		t.Errorf("without a list: %v, %x, %v", info.Mode(), attribute(plain, accessList), err)
	}
}
