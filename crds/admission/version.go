package admission

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// version is one compiled served version of a kind.
type version struct {
	namespaced bool
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func compile(definition *apiextensionsv1.CustomResourceDefinition, served *apiextensionsv1.CustomResourceDefinitionVersion) (*version, error) {
	if served.Schema == nil || served.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s has no schema", served.Name)
	}
	properties := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(served.Schema.OpenAPIV3Schema, properties, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(properties)
	if err != nil {
		return nil, err
	}
	schema, _, err := validation.NewSchemaValidator(properties)
	if err != nil {
		return nil, err
	}
	return &version{
		namespaced: definition.Spec.Scope == apiextensionsv1.NamespaceScoped,
		structural: structural,
		schema:     schema,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// decode prepares a resource as the API server prepares a request: it returns an error for each unknown field and for invalid
// metadata, prunes unknown fields and sets defaults in place.
func (v *version) decode(resource *unstructured.Unstructured) field.ErrorList {
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(resource.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("metadata"), resource.Object["metadata"], err.Error())}
	}
	if meta == nil { // without metadata the name is missing, which ValidateObjectMeta reports below
		meta = &metav1.ObjectMeta{}
	}
	if v.namespaced && meta.Namespace == "" {
		meta.Namespace = "default"
	}
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(resource.Object, v.structural, true, options)...)
	var errs field.ErrorList
	for _, path := range unknown {
		errs = append(errs, field.Forbidden(field.NewPath(path), "unknown field"))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(resource.Object, v.structural)
	defaulting.Default(resource.Object, v.structural)
	return append(errs, metavalidation.ValidateObjectMeta(meta, v.namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
}

func (v *version) validate(ctx context.Context, resource *unstructured.Unstructured) field.ErrorList {
	errs := validation.ValidateCustomResource(nil, resource.Object, v.schema)
	errs = append(errs, objectmeta.Validate(ctx, nil, resource.Object, v.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, resource.Object)...)
	if v.rules == nil || slices.ContainsFunc(errs, blocksRules) {
		return errs
	}
	broken, _ := v.rules.Validate(ctx, nil, v.structural, resource.Object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

func (v *version) validateUpdate(ctx context.Context, resource, old *unstructured.Unstructured) field.ErrorList {
	correlated := common.NewCorrelatedObject(resource.Object, old.Object, &model.Structural{Structural: v.structural})
	errs := validation.ValidateCustomResourceUpdate(nil, resource.Object, old.Object, v.schema, validation.WithRatcheting(correlated))
	errs = append(errs, objectmeta.Validate(ctx, nil, resource.Object, v.structural, false)...)
	if len(listtype.ValidateListSetsAndMaps(nil, v.structural, old.Object)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, resource.Object)...)
	}
	if v.rules == nil || slices.ContainsFunc(errs, blocksRules) {
		return errs
	}
	broken, _ := v.rules.Validate(ctx, nil, v.structural, resource.Object, old.Object, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(correlated))
	return append(errs, broken...)
}

// blocksRules reports whether an error of this type rules out the evaluation of CEL rules. They presuppose the resource's shape and size.
func blocksRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid, field.ErrorTypeNotSupported:
		return true
	default:
		return false
	}
}
