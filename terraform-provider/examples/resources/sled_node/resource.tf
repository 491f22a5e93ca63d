resource "sled_node" "n1" {
  mac  = "3c:ec:ef:10:00:01"
  name = "n1"
  disk = "serial:S6XNNA0R100001"

  # Never touched, whatever a selector says.
  keep_disks = ["model:*HGST*"]

  # Survives images: made once, mounted by each, emptied by a tear-down alone.
  data_disks = [{ name = "logs", disk = "serial:S6XNNA0R100002", filesystem = "xfs", mount = "/srv/logs" }]

  labels = {
    rack = "a"
  }

  bmc = {
    driver  = "ipmi"
    address = "10.30.0.101"
  }
}
