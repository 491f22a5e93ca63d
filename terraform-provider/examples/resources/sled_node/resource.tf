resource "sled_node" "n1" {
  mac  = "3c:ec:ef:10:00:01"
  name = "n1"
  disk = "serial:S6XNNA0R100001"

  # Never touched, whatever a selector says.
  keep_disks = ["model:*HGST*"]

  labels = {
    rack = "a"
  }

  bmc = {
    driver  = "ipmi"
    address = "10.30.0.101"
  }
}
