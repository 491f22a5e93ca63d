// SPDX-License-Identifier: Apache-2.0

package site

import "sync"

// callers are the calls of one resource at the same time.
const callers = 8

// Each does something for all machines, for some of them at the same time.
func Each(macs []string, do func(mac string)) {
	var all sync.WaitGroup
	next := make(chan string)
	for range min(callers, len(macs)) {
		all.Go(func() {
			for mac := range next {
				do(mac)
			}
		})
	}
	for _, mac := range macs {
		next <- mac
	}
	close(next)
	all.Wait()
}
