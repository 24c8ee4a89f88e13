package v1beta2

// ExpirationPolicy is what happens when the certificate of an authority expires.
//
// +kubebuilder:validation:Enum=renew-certificate;replace-key
type ExpirationPolicy string

const (
	// RenewCertificate keeps the key and signs a new certificate with it.
	RenewCertificate ExpirationPolicy = "renew-certificate"
	// ReplaceKey makes a new key too, which every node has to be told to trust before it is used.
	ReplaceKey ExpirationPolicy = "replace-key"
)

// CertificateAuthority describes an authority that signs the certificates of nodes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.renewalDays) || !has(self.validityDays) || self.renewalDays < self.validityDays",message="renewalDays must be less than validityDays: a certificate would be due for renewal when it is issued",fieldPath=".renewalDays"
type CertificateAuthority struct {
	// GenerateCertificateAuthority says whether the authority is made here (true, also when unset) or brought along in Secrets.
	// +optional
	GenerateCertificateAuthority *bool `json:"generateCertificateAuthority,omitempty"`

	// ValidityDays is how many days a certificate is valid. Unset means 365.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	ValidityDays *int32 `json:"validityDays,omitempty"`

	// RenewalDays is how many days before its end a certificate is renewed. Unset means 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	RenewalDays *int32 `json:"renewalDays,omitempty"`

	// CertificateExpirationPolicy is what happens when the authority's own certificate is due: renew-certificate, also when unset, or replace-key.
	// +optional
	CertificateExpirationPolicy ExpirationPolicy `json:"certificateExpirationPolicy,omitempty"`

	// Not used: whether the authority's Secrets belong to the Kafka resource. They never do, so that the identity of a cluster outlives the resource.
	// +optional
	GenerateSecretOwnerReference *bool `json:"generateSecretOwnerReference,omitempty"`
}
