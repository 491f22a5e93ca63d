// SPDX-License-Identifier: Apache-2.0

package api

// Received is what the write of an image received, as the node reports it.
type Received struct {
	Image     string `json:"image" doc:"Name of the image"`
	FileBytes int64  `json:"file_bytes" doc:"Size of its file"`
	HTTP      int64  `json:"http" doc:"Bytes that came by HTTP"`
	Multicast int64  `json:"multicast" doc:"Bytes that came by multicast and were right"`
	Packets   int64  `json:"packets,omitempty" doc:"Multicast packets that came"`
	Lost      int64  `json:"lost,omitempty" doc:"Multicast packets that were lost"`
	Rejected  int64  `json:"rejected,omitempty" doc:"Chunks that came by multicast and were not right"`
	Last      int64  `json:"last,omitempty" doc:"Number of the last multicast packet that was sent to the node"`
}
