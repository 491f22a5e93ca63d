// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// stalled is a connection whose client does not read: a write waits for its deadline.
type stalled struct {
	*httptest.ResponseRecorder
	writing, late chan struct{}
}

func (s stalled) Write([]byte) (int, error) {
	close(s.writing)
	<-s.late
	return 0, os.ErrDeadlineExceeded
}

func (s stalled) SetWriteDeadline(at time.Time) error {
	if left := time.Until(at); left <= lastTime {
		time.AfterFunc(left, func() { close(s.late) })
	}
	return nil
}

// The write that waits for a client which does not read does not outlive its token.
func TestStreamOfAClientThatDoesNotReadEndsWithItsToken(t *testing.T) {
	writer := stalled{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	s := &stream{writer: writer, control: http.NewResponseController(writer), beat: make(chan struct{})}
	ctx, end := context.WithCancel(t.Context())
	go s.watch(ctx, time.Millisecond, func() error {
		<-writer.writing
		return refusal.New(refusal.Unauthorized, "the token is not known")
	}, end)
	s.run(ctx, nil, &events.Listener{})
	if err := s.send([]byte("more")); err == nil || ctx.Err() == nil {
		t.Errorf("after its end: %v, %v", err, ctx.Err())
	}
}
