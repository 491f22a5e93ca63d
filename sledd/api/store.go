// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Stamp is what a disk bears of the plan that wrote it.
type Stamp struct {
	Epoch      string `json:"epoch" doc:"UUID, another one since the store was restored"`
	Generation int64  `json:"generation"`
	Run        int64  `json:"run" doc:"Number of the plan"`
}

// Store is the identity of sledd's store, and how full it is.
type Store struct {
	Fleet   string    `json:"fleet" doc:"UUID of the fleet, made at the first start on an empty store"`
	HashKey string    `json:"hash_key,omitempty" doc:"Key of the fleet, 64 hexadecimal digits, only for role operate: user_data_sha256 is hmac-sha256: and the HMAC-SHA256 of the user data with these digits as the key. Clients keep it nowhere"`
	Bytes   int64     `json:"bytes" doc:"Size of the database file"`
	InUse   int64     `json:"in_use" doc:"Bytes of the file that are in use, including the history of the last minutes"`
	Quota   int64     `json:"quota" doc:"Size at which nothing more can be written; 0: unknown"`
	Alarms  []string  `json:"alarms" nullable:"false" doc:"NOSPACE: the store has reached its quota; DISK: the disk of the embedded etcd has too little room; or another alarm of etcd. Nothing can be written then"`
	Backup  time.Time `json:"backup,omitzero" doc:"When the newest complete backup was read"`
	Refused []string  `json:"refused" nullable:"false" doc:"Whose writes are refused, so that there is room for those of operators"`
}
