// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"
)

// Multicast is what the sender of images on the boot server tells.
type Multicast struct {
	Running  bool               `json:"running" doc:"A sender runs; it starts at the first request of a node, and ends after 60 s without one"`
	Rate     int64              `json:"rate" doc:"Most that it sends, over all images, in kbit/s"`
	Refused  map[string]int64   `json:"refused" doc:"Requests that it dropped, by reason, since it started; limited: their address sent too many"`
	Sessions []MulticastSession `json:"sessions" nullable:"false" doc:"The images that are sent, or were within the last 60 s"`
}

// MulticastSession is one image that is sent by one interface.
type MulticastSession struct {
	Image     Identifier `json:"image" doc:"Name of the file"`
	Digest    Digest     `json:"digest" doc:"Of the image"`
	Interface Identifier `json:"interface" doc:"Of the boot server"`
	Group     Identifier `json:"group" doc:"Address that the packets go to"`
	Sending   bool       `json:"sending" doc:"Something is wanted at present"`
	Receivers int64      `json:"receivers" doc:"Nodes that sent a request within the last 3 s"`
	Rate      int64      `json:"rate" doc:"In kbit/s; it falls while nodes lose packets or have no room"`
	Copies    float64    `json:"copies" doc:"What was sent, repairs included, in copies of the image"`
	Bytes     int64      `json:"bytes" doc:"The same in bytes"`
	Repairs   int64      `json:"repairs" doc:"Bytes of it that make up for losses"`
	Requests  int64      `json:"requests" doc:"Of nodes"`
	Done      int64      `json:"done" doc:"Nodes that have ended"`
	Rejected  int64      `json:"rejected" doc:"Frames that these refused"`
	HTTP      int64      `json:"http" doc:"Bytes that these fetched by HTTP"`
}

// Multicast returns what the sender of images tells.
func (c *Client) Multicast(ctx context.Context) (Multicast, error) {
	var told Multicast
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/multicast"}, &told)
	if err == nil && told.Sessions == nil {
		err = errors.New("GET /v1/multicast: the answer has no list of sessions: is this sledd?")
	}
	return told, err
}
