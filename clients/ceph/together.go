package ceph

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Together asks several questions with one call of the ceph command, and returns a client that has their answers. Most of a call is the
// start of the program and its connection, so that nine questions take nine times as long one by one.
//
// Without a command the program reads commands from its input, a line each, and prints one answer after another. It prints nothing for
// a question that is refused, and does not say which one that is: the client that is returned then has no answers, and asks each
// question by itself. What a client has the answer to already is not asked again. Every failure is *Unreadable. The questions consist of
// words that no shell would change.
func (c Client) Together(ctx context.Context, questions ...string) (Client, error) {
	const what = "asking several questions"
	known := answered{}
	if a, ok := c.Runner.(answered); ok {
		known = a
		questions = slices.DeleteFunc(slices.Clone(questions), func(q string) bool { _, has := a.answers[q]; return has })
	}
	if len(questions) == 0 {
		return c, nil
	}
	result, err := c.Runner.Run(ctx, Command{Input: []byte(strings.Join(questions, "\n") + "\n")})
	switch {
	case err != nil:
		return c, &Unreadable{What: what, Err: err}
	case result.Code != 0:
		return c, &Unreadable{What: what, Err: complaint(result)}
	}
	documents, ok := split(result.Stdout)
	if !ok || len(documents) != len(questions) {
		return c, nil
	}
	answers := make(map[string][]byte, len(questions)+len(known.answers))
	maps.Copy(answers, known.answers)
	for i, question := range questions {
		answers[question] = documents[i]
	}
	if known.Runner != nil {
		c.Runner = known.Runner
	}
	c.Runner = answered{c.Runner, answers}
	return c, nil
}

// answered is a Runner that has the answers to some questions.
type answered struct {
	Runner
	answers map[string][]byte
}

// Run implements Runner.
func (a answered) Run(ctx context.Context, command Command) (Result, error) {
	if answer, known := a.answers[strings.Join(command.Args, " ")]; known {
		return Result{Stdout: answer}, nil
	}
	return a.Runner.Run(ctx, command)
}

// split returns the documents of an output, and false if it contains anything else. Release 14 prints each as a literal of Python, such
// as b'\n{"epoch":3}', in a line of its own.
func split(output []byte) (documents [][]byte, ok bool) {
	for {
		output = bytes.TrimSpace(output)
		if len(output) == 0 {
			return documents, true
		}
		if output[0] == 'b' {
			line, rest, _ := bytes.Cut(output, []byte("\n"))
			document, ok := unquote(line)
			if !ok {
				return nil, false
			}
			documents, output = append(documents, document), rest
			continue
		}
		var document json.RawMessage
		decoder := json.NewDecoder(bytes.NewReader(output))
		if decoder.Decode(&document) != nil {
			return nil, false
		}
		documents, output = append(documents, document), output[decoder.InputOffset():]
	}
}

// unquote returns the bytes of a bytes literal of Python.
func unquote(literal []byte) (out []byte, ok bool) {
	literal = bytes.TrimSpace(literal)
	if len(literal) < len(`b''`) || literal[1] != literal[len(literal)-1] || literal[1] != '\'' && literal[1] != '"' {
		return nil, false
	}
	for text := string(literal[2 : len(literal)-1]); text != ""; {
		if quote, found := strings.CutPrefix(text, `\"`); found { // escaped in a literal with the other quotes too
			out, text = append(out, '"'), quote
			continue
		}
		char, _, rest, err := strconv.UnquoteChar(text, '\'')
		if err != nil && text[0] == '\'' {
			char, rest, err = '\'', text[1:], nil
		}
		if err != nil || char > 0xff {
			return nil, false
		}
		out, text = append(out, byte(char)), rest
	}
	return out, true
}
