package ceph

import client "github.com/detent-dev/detent/clients/ceph"

// handler answers the commands of a form: its words, * for one argument, and ... for at least one.
type handler struct {
	form []string
	run  func(c *Cluster, args []string, input []byte) client.Result
}

func handlers() []handler {
	return []handler{
		{[]string{"*", "ok-to-stop", "..."}, func(c *Cluster, a []string, _ []byte) client.Result { return c.okToStop(a[0], a[1:]) }},
		{[]string{"tell", "*", "..."}, func(c *Cluster, a []string, input []byte) client.Result { return c.tell(a[0], a[1:], input) }},
		{[]string{"config-key", "*", "..."}, func(c *Cluster, a []string, input []byte) client.Result { return c.configKey(a[0], a[1], input) }},
		{[]string{"osd", "set-group", "noout", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.noOut(a[0], true) }},
		{[]string{"osd", "unset-group", "noout", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.noOut(a[0], false) }},
		{[]string{"osd", "require-osd-release", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.require(a[0]) }},
		{[]string{"fs", "set", "*", "*", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.fsSet(a[0], a[1], a[2]) }},
		{[]string{"osd", "out", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.out(a[0]) }},
		{[]string{"osd", "purge", "*", "--yes-i-really-mean-it"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.purge(a[0]) }},
		{[]string{"osd", "new", "*", "-i", "-"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.newOSD(a[0]) }},
		{[]string{"osd", "pool", "create", "*", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.createPool(a[0], a[1]) }},
		{[]string{"fs", "flag", "set", "enable_multiple", "true", "--yes-i-really-mean-it"}, func(c *Cluster, _ []string, _ []byte) client.Result {
			c.SeveralFilesystems = true
			return client.Result{}
		}},
		{[]string{"fs", "new", "*", "*", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.createFilesystem(a[0], a[1], a[2]) }},
		{[]string{"auth", "import", "-i", "-"}, func(*Cluster, []string, []byte) client.Result { return said("imported keyring") }},
		{[]string{"mgr", "fail", "*"}, func(c *Cluster, a []string, _ []byte) client.Result { return c.mgrFail(a[0]) }},
	}
}

// matches returns the arguments of a command of the form.
func matches(form, args []string) (rest []string, ok bool) {
	for i, word := range form {
		switch {
		case i >= len(args):
			return nil, false
		case word == "...":
			return append(rest, args[i:]...), true
		case word == "*":
			rest = append(rest, args[i])
		case word != args[i]:
			return nil, false
		}
	}
	return rest, len(form) == len(args)
}
