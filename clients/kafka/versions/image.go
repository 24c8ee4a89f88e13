package versions

// PublicRepository is the repository of the public images of Kafka. Its tags are the releases.
const PublicRepository = "apache/kafka"

// Image returns the container image of a version that is named in text: that of its row, otherwise the public one, also if the
// text is no version.
func (t *Table) Image(version string) string {
	if i, ok := t.byText[version]; ok {
		return t.rows[i].Image()
	}
	return publicImage(version)
}

// Image returns the container image of the version: the row's, otherwise the public one.
func (r *Row) Image() string {
	if r.image != "" {
		return r.image
	}
	return publicImage(r.number.text)
}

func publicImage(version string) string { return PublicRepository + ":" + version }
