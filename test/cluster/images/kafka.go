package images

import (
	"archive/tar"
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// kafkaFiles are what a Kafka image needs in addition to the jars: the Maven project that resolves them, their checksums,
// and those scripts of the distribution that pods call.
//
//go:embed kafka
var kafkaFiles embed.FS

// KafkaVersions returns the versions with images: the newest of each line that an upgrade leads through.
func KafkaVersions() []string { return []string{"3.9.2", "4.0.2", "4.1.2", "4.3.1"} }

// kafkaHome is the directory of Kafka in the public image, and therefore in ours: a pod template works with both.
const kafkaHome = "opt/kafka/"

// kafkaUser is the user of the public image.
const kafkaUser = "1000:1000"

func kafkaRecipe(version string) Recipe {
	return Recipe{Name: "kafka-" + version, Ref: "docker.io/apache/kafka:" + version, make: func(ctx context.Context, k *Kitchen) (v1.Image, error) {
		return kafkaImage(ctx, k, version)
	}}
}

func kafkaImage(ctx context.Context, k *Kitchen, version string) (v1.Image, error) {
	root, err := javaRoot().layer(ctx, k)
	if err != nil {
		return nil, err
	}
	want, err := readChecksums(version)
	if err != nil {
		return nil, err
	}
	jars, err := k.Store.kept(jarsKey(want))
	if err != nil {
		if jars, err = jarsLayer(ctx, k, version, want); err != nil {
			return nil, err
		}
	}
	scripts, err := kafkaScripts(version)
	if err != nil {
		return nil, err
	}
	small, err := k.Store.Layer("kafka scripts "+version+" "+sumFiles(scripts), func(w *tar.Writer) error { return writeFiles(w, scripts) })
	if err != nil {
		return nil, err
	}
	return assemble(v1.Config{
		User: kafkaUser, WorkingDir: "/opt/kafka",
		Env: []string{"PATH=/opt/kafka/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "KAFKA_VERSION=" + version},
		Cmd: []string{"/opt/kafka/bin/kafka-server-start.sh", "/opt/kafka/config/server.properties"},
	}, root, jars, small)
}

func jarsKey(want []checksum) string {
	var key strings.Builder
	key.WriteString("kafka jars")
	for _, c := range want {
		key.WriteString(" " + c.sum + " " + c.name)
	}
	return key.String()
}

func jarsLayer(ctx context.Context, k *Kitchen, version string, want []checksum) (v1.Layer, error) {
	dir, err := os.MkdirTemp(k.Store.path(), "jars-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := fetchJars(ctx, k.Log, version, dir); err != nil {
		return nil, err
	}
	got, err := sumDir(dir)
	if err != nil {
		return nil, err
	}
	if err := compare(version, want, got); err != nil {
		return nil, err
	}
	files := []file{{name: "opt/", mode: 0o755}, {name: kafkaHome, mode: 0o755}, {name: kafkaHome + "libs/", mode: 0o755}}
	for _, c := range want {
		files = append(files, file{name: kafkaHome + "libs/" + c.name, mode: 0o644, source: filepath.Join(dir, c.name)})
	}
	return k.Store.Layer(jarsKey(want), func(w *tar.Writer) error { return writeFiles(w, files) })
}

// kafkaScripts returns the scripts by their names in the distribution. Each runs one class.
func kafkaScripts(version string) ([]file, error) {
	run, err := kafkaFiles.ReadFile("kafka/bin/kafka-run-class.sh")
	if err != nil {
		return nil, err
	}
	producer := "org.apache.kafka.tools.ConsoleProducer"
	if strings.HasPrefix(version, "3.") { // it moved in 4.0
		producer = "kafka.tools.ConsoleProducer"
	}
	files := []file{
		{name: kafkaHome + "bin/", mode: 0o755}, {name: kafkaHome + "config/", mode: 0o755},
		{name: kafkaHome + "bin/kafka-run-class.sh", mode: 0o755, content: run},
	}
	for _, c := range [][2]string{
		{"connect-distributed.sh", "org.apache.kafka.connect.cli.ConnectDistributed"},
		{"kafka-configs.sh", "kafka.admin.ConfigCommand"},
		{"kafka-console-consumer.sh", "org.apache.kafka.tools.consumer.ConsoleConsumer"},
		{"kafka-console-producer.sh", producer},
		{"kafka-features.sh", "org.apache.kafka.tools.FeatureCommand"},
		{"kafka-metadata-quorum.sh", "org.apache.kafka.tools.MetadataQuorumCommand"},
		{"kafka-storage.sh", "kafka.tools.StorageTool"},
		{"kafka-topics.sh", "org.apache.kafka.tools.TopicCommand"},
	} {
		files = append(files, script(c[0], "", c[1]))
	}
	files = append(files, script("kafka-server-start.sh", "export KAFKA_HEAP_OPTS=\"${KAFKA_HEAP_OPTS:--Xmx1G -Xms1G}\"\n", "kafka.Kafka"))
	for _, name := range []string{"log4j.properties", "log4j2.properties"} {
		content, err := kafkaFiles.ReadFile("kafka/" + name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: kafkaHome + "config/" + name, mode: 0o644, content: content})
	}
	return files, nil
}

func script(name, before, class string) file {
	return file{name: kafkaHome + "bin/" + name, mode: 0o755, content: fmt.Appendf(nil, "#!/bin/sh\n%sexec \"$(dirname \"$0\")/kafka-run-class.sh\" ${EXTRA_ARGS:-} %s \"$@\"\n", before, class)}
}

// kafkaRecipes are the recipes of all versions. An image runs brokers, controllers and Connect.
func kafkaRecipes() []Recipe {
	var list []Recipe
	for _, version := range slices.Sorted(slices.Values(KafkaVersions())) {
		list = append(list, kafkaRecipe(version))
	}
	return list
}
