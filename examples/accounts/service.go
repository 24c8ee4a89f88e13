package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// Target is the account of one object. Its ID at the service is the UID of the object.
type Target struct {
	Name types.NamespacedName
	UID  types.UID
}

// Object returns the object of the account.
func (t Target) Object() (types.NamespacedName, types.UID) { return t.Name, t.UID }

// BuiltFrom returns the ID of the account.
func (t Target) BuiltFrom() string { return string(t.UID) }

type (
	// System reads and changes accounts. The question is the need itself.
	System = external.System[Target, transitions.Need, bank.Account, Command]
	// Polled is the System of a manager.
	Polled = external.Polled[Target, string, transitions.Need, bank.Account, Command]
	// Direct is the System of tests.
	Direct = external.Direct[Target, string, transitions.Need, bank.Account, Command]
	// Protocol is how the service is asked and commanded. A client is the URL of an account.
	Protocol = external.Protocol[Target, string, transitions.Need, bank.Account, Command]
)

// refusal is an answer of the service with a status code other than 200.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return fmt.Sprintf("the service answered %d: %s", r.code, r.text) }

// NewProtocol returns the protocol of the service at the URL.
func NewProtocol(service string, client *http.Client) Protocol {
	const timeout, mostBytes = 5 * time.Second, 64 << 10
	request := func(ctx context.Context, method, url, body string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		response, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
		if response.StatusCode != http.StatusOK {
			return nil, &refusal{response.StatusCode, strings.TrimSpace(string(text[:min(len(text), 200)]))}
		}
		return text, err
	}
	return Protocol{
		Connect: func(t Target) (string, func(), error) { return service + "/" + string(t.UID), func() {}, nil },
		Ask: func(ctx context.Context, url string, _ transitions.Need) (account bank.Account, err error) {
			text, err := request(ctx, http.MethodGet, url, "")
			if err == nil {
				err = json.Unmarshal(text, &account)
			}
			return account, stable(err)
		},
		Execute: func(ctx context.Context, url string, c Command) error {
			_, err := request(ctx, c.Method, url+c.Path, c.Body)
			return err
		},
		Outcome: outcome,
	}
}

// stable removes the addresses of a connection from its error: the status shows the error, and the local port is another one in
// each connection.
func stable(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("the service does not answer: %s: %w", failed.Op, failed.Err)
	}
	return err
}

// outcome says what the error of a command means. Only a refusal and a failed connection prove that it was not executed.
func outcome(err error) external.Answer {
	var refused *refusal
	var connecting *net.OpError
	switch {
	case errors.As(err, &refused) && refused.code < http.StatusInternalServerError:
		return external.Answer{State: external.Refused, Code: refused.code, Name: http.StatusText(refused.code), Text: refused.text}
	case errors.As(err, &connecting) && connecting.Op == "dial":
		return external.Answer{State: external.Failed, Text: err.Error()}
	default:
		return external.Answer{State: external.Unknown, Text: err.Error()}
	}
}
