module github.com/sled-fleet/sled

go 1.26
