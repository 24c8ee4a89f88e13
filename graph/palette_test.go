package graph

import (
	"fmt"
	"math"
	"testing"
)

// luminance is the relative luminance of WCAG 2.2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var c [3]int
	if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	var linear [3]float64
	for i, v := range c {
		s := float64(v) / 255
		if s <= 0.04045 {
			linear[i] = s / 12.92
		} else {
			linear[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2]
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrastOfKnownColours(t *testing.T) {
	cases := map[string]struct {
		a, b string
		want float64
	}{
		"black on white":         {"#000000", "#ffffff", 21},
		"a colour on itself":     {"#64748b", "#64748b", 1},
		"middle grey on white":   {"#767676", "#ffffff", 4.54},
		"order makes no change":  {"#ffffff", "#767676", 4.54},
		"a well-known blue pair": {"#ffffff", "#2563eb", 5.17},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := contrast(t, tc.a, tc.b); math.Abs(got-tc.want) > 0.01 {
				t.Errorf("contrast of %s and %s: want %.2f, got %.2f", tc.a, tc.b, tc.want, got)
			}
		})
	}
}

func TestPaletteContrast(t *testing.T) {
	const text, lines = 4.5, 3.0
	for _, theme := range []Theme{Light, Dark} {
		c := colours(theme)
		for _, tc := range []struct {
			what, colour string
			on           map[string]string
			want         float64
		}{
			{"text", c.text, map[string]string{"page": c.page, "band": c.band, "box": c.box, "visited": c.visited, "hold": c.hold}, text},
			{"muted text", c.muted, map[string]string{"page": c.page, "band": c.band, "box": c.box, "visited": c.visited, "hold": c.hold}, text},
			{"text of the current state", c.currentText, map[string]string{"current": c.current}, text},
			{"lines", c.line, map[string]string{"page": c.page, "band": c.band, "box": c.box}, lines},
			{"borders", c.border, map[string]string{"page": c.page, "band": c.band, "box": c.box}, lines},
			{"visited borders and lines", c.visitedLine, map[string]string{"page": c.page, "band": c.band, "visited": c.visited}, lines},
			{"hold borders", c.holdLine, map[string]string{"page": c.page, "band": c.band, "hold": c.hold}, lines},
			{"the current box", c.current, map[string]string{"page": c.page, "band": c.band}, lines},
			{"lines to what is next", c.next, map[string]string{"page": c.page, "band": c.band, "box": c.box}, lines},
			{"the blocked sign", c.blocked, map[string]string{"page": c.page, "band": c.band}, lines},
			{"the bar of the blocked sign", c.blockedGlyph, map[string]string{"blocked": c.blocked}, lines},
		} {
			for name, background := range tc.on {
				t.Run(fmt.Sprintf("%s/%s on %s", theme, tc.what, name), func(t *testing.T) {
					if got := contrast(t, tc.colour, background); got < tc.want {
						t.Errorf("%s on %s: want at least %.1f:1, got %.2f:1", tc.colour, background, tc.want, got)
					}
				})
			}
		}
	}
}

func TestThemeUnknownIsLight(t *testing.T) {
	if colours("sepia") != colours(Light) {
		t.Error("an unknown theme must give the light colours")
	}
}
