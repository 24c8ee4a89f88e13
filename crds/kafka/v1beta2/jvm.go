package v1beta2

// JvmOptions are options of the Java virtual machine of a node.
type JvmOptions struct {
	// Xms is the initial heap size, in bytes or with the unit m or g.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[mMgG]?$')",messageExpression="'\"' + self + '\" is not a heap size: write a number of bytes, or one with m or g, such as 512m'"
	Xms string `json:"-Xms,omitempty"`

	// Xmx is the maximum heap size, in bytes or with the unit m or g.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[mMgG]?$')",messageExpression="'\"' + self + '\" is not a heap size: write a number of bytes, or one with m or g, such as 512m'"
	Xmx string `json:"-Xmx,omitempty"`

	// Not used: further options of the form -XX.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	XX map[string]string `json:"-XX,omitempty"`

	// Not used: whether garbage collections are logged.
	// +optional
	GcLoggingEnabled *bool `json:"gcLoggingEnabled,omitempty"`

	// Not used: system properties.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	JavaSystemProperties []SystemProperty `json:"javaSystemProperties,omitempty"`
}

// SystemProperty is one system property of a Java virtual machine.
type SystemProperty struct {
	// Name of the property.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// Value of the property.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
}
