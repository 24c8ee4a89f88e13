package commands

import "testing"

func TestSpeaksUTF8(t *testing.T) {
	cases := map[string]struct {
		env  map[string]string
		want bool
	}{
		"nothing is set":               {},
		"UTF-8":                        {env: map[string]string{"LANG": "en_US.UTF-8"}, want: true},
		"written without a dash":       {env: map[string]string{"LC_CTYPE": "C.utf8"}, want: true},
		"Latin":                        {env: map[string]string{"LANG": "de_DE.ISO-8859-1"}},
		"LC_ALL goes before all":       {env: map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}},
		"LC_CTYPE goes before LANG":    {env: map[string]string{"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, want: true},
		"an empty one counts for none": {env: map[string]string{"LC_ALL": "", "LANG": "en_US.UTF-8"}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := speaksUTF8(func(key string) string { return tc.env[key] }); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
