package graph

// Theme selects the colours of an SVG.
type Theme string

const (
	// Light is for white pages. It is the default, also for an unknown theme.
	Light Theme = "light"
	// Dark is for dark pages.
	Dark Theme = "dark"
)

// palette is one theme as literal colours: a picture must look right where style sheets and
// variables do not apply, such as in an img element or a converter.
//
// Text has a contrast of at least 4.5:1, and lines of 3:1, against everything they are
// drawn on (WCAG 2.2, success criteria 1.4.3 and 1.4.11).
type palette struct {
	page, band            string // backgrounds
	text, muted           string // on page, band and box
	line                  string // lines and arrows on page and band
	box, border           string
	visited, visitedLine  string
	hold, holdLine        string
	current, currentText  string
	next                  string // lines that leave the current state
	blocked, blockedGlyph string
}

func colours(t Theme) palette {
	if t == Dark {
		return palette{
			page: "#0d1117", band: "#161d29",
			text: "#e6edf3", muted: "#a3b1c2",
			line: "#7d8ca0",
			box:  "#121a26", border: "#7d8ca0",
			visited: "#0c2a27", visitedLine: "#2dd4bf",
			hold: "#2a1f0a", holdLine: "#e0a526",
			current: "#2563eb", currentText: "#ffffff",
			next:    "#7cabff",
			blocked: "#ff7b72", blockedGlyph: "#0d1117",
		}
	}
	return palette{
		page: "#ffffff", band: "#eef2f7",
		text: "#0f172a", muted: "#475569",
		line: "#64748b",
		box:  "#ffffff", border: "#64748b",
		visited: "#e8faf3", visitedLine: "#0f766e",
		hold: "#fff8e8", holdLine: "#b45309",
		current: "#1d4ed8", currentText: "#ffffff",
		next:    "#1d4ed8",
		blocked: "#b91c1c", blockedGlyph: "#ffffff",
	}
}
