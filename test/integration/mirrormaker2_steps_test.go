package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// mirrorMaker2 is a KafkaMirrorMaker2 of a spec.
type mirrorMaker2 struct{ key client.ObjectKey }

// mirroredIn creates the resource that is declared as mirrored.
func mirroredIn(ctx context.Context, namespace string) mirrorMaker2 {
	GinkgoHelper()
	m := &kafkav1beta2.KafkaMirrorMaker2{}
	Expect(yaml.UnmarshalStrict([]byte(mirrored), m)).To(Succeed())
	m.Namespace = namespace
	Expect(admin.Create(ctx, m)).To(Succeed())
	return mirrorMaker2{key: client.ObjectKeyFromObject(m)}
}

func (m mirrorMaker2) read(ctx context.Context, g Gomega) *kafkav1beta2.KafkaMirrorMaker2 {
	now := &kafkav1beta2.KafkaMirrorMaker2{}
	g.Expect(admin.Get(ctx, m.key, now)).To(Succeed())
	return now
}

// edit changes the resource, again after a conflict.
func (m mirrorMaker2) edit(ctx context.Context, change func(*kafkav1beta2.KafkaMirrorMaker2)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		now := m.read(ctx, g)
		change(now)
		g.Expect(admin.Update(ctx, now)).To(Succeed())
	}).Should(Succeed())
}
