package record

import (
	"testing"
)

// Users edit ConfigMaps, and a record is the only source of its content: any content is decoded without a panic, survives
// encoding, and permits formatting only if it says so exactly.
func FuzzDecode(f *testing.F) {
	whole := full()
	data := whole.Encode()
	f.Add(data[KeyID], data[KeyFormat], data[KeyRoles], data[KeyVolumes], data[KeyLevels], data[KeySnapshotInterval])
	f.Add("-1", "Allowed", "broker broker x", "0 0 -3 99999999999", `{"metadata.version": {"highest": 99999}}`, "-5")
	f.Add("4294967296", "", "", "", "null", "9223372036854775807")
	f.Add("", "done", "\n", "+1", `{"a": {"loweredAt": "0000-01-01T00:00:00+23:59"}}`, "1e3")
	f.Fuzz(func(t *testing.T, id, format, roles, volumes, levels, interval string) {
		data := map[string]string{
			KeyID: id, KeyPool: "p", KeyFormat: format, KeyRoles: roles, KeyVolumes: volumes, KeyLevels: levels, KeySnapshotInterval: interval,
		}
		r, err := Decode(data)
		if r.Format == FormatAllowed && format != string(FormatAllowed) {
			t.Fatalf("format %q permits formatting", format)
		}
		if err == nil && r.ID < 0 || r.SnapshotInterval < 0 {
			t.Fatalf("node %d, a snapshot every %s", r.ID, r.SnapshotInterval)
		}
		for _, volume := range r.Volumes {
			if volume < 0 {
				t.Fatalf("volume %d", volume)
			}
		}
		again, failure := Decode(r.Encode())
		if err == nil && failure != nil {
			t.Fatalf("written back it cannot be read: %v", failure)
		}
		if !again.Equal(&r) {
			t.Fatalf("written back it reads\n%+v, and was\n%+v", again, r)
		}
	})
}
