package keys_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
)

func TestNew(t *testing.T) {
	key, err := keys.New(strings.NewReader("0123456789abcdef"), time.Unix(0x5f2c91a0, 0))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	// type, seconds, nanoseconds, length and secret
	want := "0100" + "a0912c5f" + "00000000" + "1000" + hex.EncodeToString([]byte("0123456789abcdef"))
	if diff := cmp.Diff(want, hex.EncodeToString(raw)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := keys.New(strings.NewReader("short"), time.Unix(0, 0)); err == nil {
		t.Error("a key is made without enough randomness")
	}
}

func TestNewUUID(t *testing.T) {
	got, err := keys.NewUUID(strings.NewReader("0123456789abcdef"))
	if want := "30313233-3435-4637-b839-616263646566"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestSeed(t *testing.T) {
	osd := ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}
	rgw := ceph.Daemon{Type: ceph.TypeRGW, ID: "store.a"}
	entries := map[string]string{
		keys.Entry(osd, "set-0"): keys.Keyring(keys.Entity(osd), "c2VjcmV0"),
		keys.Entry(rgw, ""):      keys.Keyring(keys.Entity(rgw), "cmd3"),
		keys.Mon:                 keys.Keyring(keys.Mon, "bW9u"),
	}
	want := "[client.rgw.store.a]\n\tkey = cmd3\n\tcaps mgr = \"allow rw\"\n\tcaps mon = \"allow rw\"\n\tcaps osd = \"allow rwx\"\n[mon.]\n\tkey = bW9u\n\tcaps mon = \"allow *\"\n"
	if diff := cmp.Diff(want, keys.Seed(entries)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if key, found := keys.KeyOf(entries["osd.set-0"]); !found || key != "c2VjcmV0" {
		t.Errorf("the key of the OSD is %q", key)
	}
}
