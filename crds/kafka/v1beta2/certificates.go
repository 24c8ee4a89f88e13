package v1beta2

// ExpirationPolicy is what Detent does when the certificate of an authority expires.
//
// +kubebuilder:validation:Enum=renew-certificate;replace-key
type ExpirationPolicy string

const (
	// RenewCertificate keeps the key and signs a new certificate with it.
	RenewCertificate ExpirationPolicy = "renew-certificate"
	// ReplaceKey generates a new key too. Every node must trust it before it is used.
	ReplaceKey ExpirationPolicy = "replace-key"
)

// CertificateAuthority describes an authority that signs the certificates of nodes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.renewalDays) || !has(self.validityDays) || self.renewalDays < self.validityDays",message="renewalDays must be less than validityDays: a certificate would be due for renewal when it is issued",fieldPath=".renewalDays"
type CertificateAuthority struct {
	// Not used yet: whether Detent generates the authority (true) or the user provides it in Secrets (false). Defaults to true.
	// +optional
	GenerateCertificateAuthority *bool `json:"generateCertificateAuthority,omitempty"`

	// Not used yet: how many days a certificate is valid. Defaults to 365.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	ValidityDays *int32 `json:"validityDays,omitempty"`

	// Not used yet: how many days before its expiry a certificate is renewed. Defaults to 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	RenewalDays *int32 `json:"renewalDays,omitempty"`

	// Not used yet: what Detent does when the authority's own certificate is due for renewal: renew-certificate or replace-key. Defaults to renew-certificate.
	// +optional
	CertificateExpirationPolicy ExpirationPolicy `json:"certificateExpirationPolicy,omitempty"`

	// Not used: whether the authority's Secrets have an owner reference to the Kafka resource. They never have one, so that the identity of a cluster outlives the resource.
	// +optional
	GenerateSecretOwnerReference *bool `json:"generateSecretOwnerReference,omitempty"`
}
