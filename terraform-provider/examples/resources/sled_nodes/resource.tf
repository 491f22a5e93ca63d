resource "sled_nodes" "rack_a" {
  names = {
    "52:54:00:77:00:01" = "a1"
    "52:54:00:77:00:02" = "a2"
    "52:54:00:77:00:03" = "a3"
  }
  labels = { rack = "a" }

  # Of equal machines: the smallest NVMe drive. One is different.
  disk  = "smallest,transport:nvme"
  disks = { "52:54:00:77:00:03" = "serial:S123" }
}

resource "sled_bindings" "rack_a" {
  name   = "rack-a"
  images = { for mac, name in sled_nodes.rack_a.names : mac => "debian-12-v1" }
}
