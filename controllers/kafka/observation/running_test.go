package observation

import (
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestEvidenceRunning(t *testing.T) {
	const public, own = "apache/kafka:", "registry.example:5000/team/broker:stable"
	type written struct{ entry, entryImage, record string }
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	both := func(version string) written { return written{version, public + version, version} }
	for name, tc := range map[string]struct {
		written     written
		annotated   string
		image       string
		specImage   string
		declared    string
		terminating bool
		edited      bool
		want        string
		contradicts bool
	}{
		"as it was written":                                           {written: both("4.1.1"), annotated: "4.1.1", image: public + "4.1.1", want: "4.1.1"},
		"another version was annotated":                               {written: both("4.1.1"), annotated: "4.2.0", image: public + "4.1.1", want: "4.1.1"},
		"an annotation that is no version":                            {written: both("4.1.1"), annotated: "latest", image: public + "4.1.1", want: "4.1.1"},
		"the annotation was removed":                                  {written: both("4.1.1"), image: public + "4.1.1", want: "4.1.1"},
		"the annotation was removed, and there is no entry":           {written: written{record: "4.1.1"}, image: public + "4.1.1", want: "4.1.1"},
		"the annotation was edited, and there is no record":           {written: written{entry: "4.1.1", entryImage: public + "4.1.1"}, annotated: "4.2.0", image: public + "4.1.1", want: "4.1.1"},
		"the image was edited":                                        {written: both("4.1.1"), annotated: "4.1.1", image: public + "4.2.0", want: "4.1.1", contradicts: true},
		"image and annotation were edited":                            {written: both("4.1.1"), annotated: "4.2.0", image: public + "4.2.0", want: "4.1.1", contradicts: true},
		"a mirror stands in for the image":                            {written: both("4.1.1"), annotated: "4.1.1", image: "mirror.example/apache/kafka:4.1.1", want: "4.1.1"},
		"a digest stands in for the image":                            {written: both("4.1.1"), annotated: "4.1.1", image: "apache/kafka@sha256:4f2e", want: "4.1.1"},
		"an image of the user's own":                                  {written: written{"4.1.1", own, "4.1.1"}, annotated: "4.2.0", image: own, specImage: own, want: "4.1.1"},
		"an image of the user's own that is numbered otherwise":       {written: written{"4.1.1", "team/broker:4.2.0", "4.1.1"}, annotated: "4.1.1", image: "team/broker:4.2.0", want: "4.1.1"},
		"a version that no table knows":                               {written: both("9.9.9-acme"), annotated: "4.1.1", image: public + "9.9.9-acme", want: "9.9.9-acme"},
		"the entry was switched, and the pod is the new one":          {written: written{"4.2.0", public + "4.2.0", "4.1.1"}, annotated: "4.1.1", image: public + "4.2.0", want: "4.2.0"},
		"the entry was switched, and the pod is the earlier one":      {written: written{"4.2.0", public + "4.2.0", "4.1.1"}, annotated: "4.2.0", image: public + "4.1.1", want: "4.1.1"},
		"the entry was switched, and a mirror has the new image":      {written: written{"4.2.0", public + "4.2.0", "4.1.1"}, image: "mirror.example/kafka:4.2.0", want: "4.2.0"},
		"the entry was switched, and a mirror has the old image":      {written: written{"4.2.0", public + "4.2.0", "4.1.1"}, image: "mirror.example/kafka:4.1.1", want: "4.1.1"},
		"the entry was switched, and one image has both":              {written: written{"4.2.0", own, "4.1.1"}, annotated: "4.1.1", image: own, specImage: own, want: "4.2.0"},
		"the entry was switched, one image, and the pod leaves":       {written: written{"4.2.0", own, "4.1.1"}, image: own, specImage: own, terminating: true, want: "4.1.1"},
		"the entry was switched, and the image is neither's":          {written: written{"4.2.0", public + "4.2.0", "4.1.1"}, annotated: "4.2.0", image: public + "4.0.0", want: "4.1.1", contradicts: true},
		"the entry was switched, and a digest has the old image":      {written: written{"4.2.0", public + "4.2.0", "4.1.1"}, annotated: "4.1.1", image: "apache/kafka@sha256:4f2e", want: "4.1.1"},
		"the entry was switched, and a digest has the new image":      {written: written{"4.2.0", public + "4.2.0", "4.1.1"}, annotated: "latest", image: "apache/kafka@sha256:4f2e", want: "4.2.0"},
		"a record that is no version, and an entry":                   {written: written{"4.1.1", public + "4.1.1", "latest"}, annotated: "4.2.0", image: public + "4.1.1", want: "4.1.1"},
		"adopted by its annotation":                                   {annotated: "4.1.1", image: public + "4.1.1", want: "4.1.1"},
		"adopted with a build of the annotated version":               {annotated: "4.1.1", image: public + "4.1.1-acme-2", want: "4.1.1"},
		"adopted from an image that carries two versions":             {annotated: "4.1.1", image: "quay.example/kafka:0.48.0-kafka-4.1.1", want: "4.1.1"},
		"adopted with an image that names no version":                 {annotated: "4.1.1", image: own, want: "4.1.1"},
		"adopted with an image that has numbers of its own":           {annotated: "4.1.1", image: "team/broker:1.2.3", want: "4.1.1"},
		"not adopted against its image":                               {annotated: "4.1.1", image: public + "4.2.0", contradicts: true},
		"not adopted against an image that carries two versions":      {annotated: "4.1.1", image: "quay.example/kafka:0.48.0-kafka-4.2.0", contradicts: true},
		"adopted against its image, which the spec says is right":     {annotated: "4.1.1", image: "team/broker:4.2.0", specImage: "team/broker:4.2.0", want: "4.1.1"},
		"the entry and the pod were edited alike":                     {written: written{"4.1.1", public + "4.2.0", "4.1.1"}, annotated: "4.1.1", image: public + "4.2.0", edited: true, want: "4.1.1", contradicts: true},
		"the entry was edited, and the pod is as before":              {written: written{"4.1.1", public + "4.2.0", "4.1.1"}, annotated: "4.1.1", image: public + "4.1.1", edited: true, want: "4.1.1"},
		"the image was edited to the declared one":                    {written: both("4.1.1"), image: public + "4.2.0", specImage: public + "4.2.0", declared: "4.2.0", want: "4.1.1", contradicts: true},
		"one image is declared for both versions, and the pod leaves": {written: written{"4.2.0", own, "4.1.1"}, image: own, specImage: own, declared: "4.2.0", terminating: true, want: "4.1.1"},
		"not adopted without an annotation":                           {image: public + "4.1.1"},
		"not adopted by an annotation that is no version":             {annotated: "latest", image: public + "4.1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &Node{
				PodName: "c-p-1", Recorded: tc.written.record != "", Record: record.Record{Version: tc.written.record},
				Entry: Entry{Exists: tc.written.entry != "", Edited: tc.edited, Version: tc.written.entry, image: tc.written.entryImage},
				Pod:   Pod{Exists: true, Terminating: tc.terminating, Annotated: tc.annotated, Image: tc.image},
			}
			spec := &kafkav1beta2.KafkaClusterSpec{Version: tc.declared, Image: tc.specImage}
			version, contradiction := evidence{table: table, spec: spec}.running(n)
			if version != tc.want || contradiction != nil != tc.contradicts {
				t.Errorf("version %q (contradiction %v), want %q (contradicts: %v)", version, contradiction, tc.want, tc.contradicts)
			}
		})
	}
}
