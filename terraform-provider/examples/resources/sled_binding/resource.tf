variable "user_data" {
  type        = string
  description = "cloud-init user data. It is not kept in the state."
  default     = null
  sensitive   = true
}

resource "sled_node" "n1" {
  mac  = "3c:ec:ef:10:00:01"
  name = "n1"
  disk = "serial:S6XNNA0R100001"
}

resource "sled_binding" "n1" {
  node  = sled_node.n1.mac
  image = "debian-12-v1"

  mode            = "auto"
  verify          = "full"
  authorized_keys = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEw4O8lZx8U8mKq0yqk0n8b2z1q9yq3m2q8s4vLr9w0T ops"]
  user_data       = var.user_data

  # Any other text images the machine again.
  reimage_trigger = "2026-11"
}
