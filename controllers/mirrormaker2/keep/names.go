package keep

// RequestName is the name of the ConfigMap of the records.
func RequestName(resource string) string { return resource + "-offsets-request" }

// BeforeName is the name of the ConfigMap of the offsets from before.
func BeforeName(resource string) string { return resource + "-offsets-before" }
