// Package line is how a client program speaks with the tests: lines of JSON, as tests/interop/member.py says.
package line

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
)

// Options of a member, as its last argument has them.
type Options struct {
	InstanceID       string `json:"instance_id"`
	IsCooperative    bool   `json:"is_cooperative"`
	SessionTimeoutMS int    `json:"session_timeout_ms"`
	HeartbeatMS      int    `json:"heartbeat_interval_ms"`
	Protocol         string `json:"protocol"`
	HasRegex         bool   `json:"has_regex"`
	Trusted          string `json:"trusted"`
	Identity         string `json:"identity"`
	Mechanism        string `json:"mechanism"`
	User             string `json:"user"`
	Password         string `json:"password"`
}

// TLS is nil for a member without.
func (options Options) TLS() *tls.Config {
	if options.Trusted == "" {
		return nil
	}
	trusted, err := os.ReadFile(options.Trusted)
	Must(err)
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(trusted)
	if options.Identity == "" {
		return &tls.Config{RootCAs: authorities}
	}
	identity, err := tls.LoadX509KeyPair(options.Identity, options.Identity)
	Must(err)
	return &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{identity}}
}

// Handler runs one call; what it returns is the result.
type Handler func(argument json.RawMessage) (any, error)

var output sync.Mutex

// Owned says which partitions the member has now.
func Owned(partitions []int32) {
	sorted := append([]int32{}, partitions...)
	slices.Sort(sorted)
	say(map[string]any{"owned": sorted})
}

// Serve answers calls until the end of stdin.
func Serve(handlers map[string]Handler) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var command struct {
			Call     string
			Argument json.RawMessage
		}
		Must(json.Unmarshal(lines.Bytes(), &command))
		handler, isKnown := handlers[command.Call]
		if !isKnown {
			say(map[string]any{"error": "no such call: " + command.Call})
			continue
		}
		result, err := handler(command.Argument)
		if err != nil {
			say(map[string]any{"error": err.Error()})
		} else {
			say(map[string]any{"result": result})
		}
	}
}

// Read takes an argument apart.
func Read[T any](argument json.RawMessage) T {
	var value T
	Must(json.Unmarshal(argument, &value))
	return value
}

// ReadArray takes an argument apart that is an array of different things.
func ReadArray(argument json.RawMessage, into ...any) {
	parts := Read[[]json.RawMessage](argument)
	for place, part := range parts {
		Must(json.Unmarshal(part, into[place]))
	}
}

// Must ends the process when there is an error.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func say(what map[string]any) {
	text, err := json.Marshal(what)
	Must(err)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}
