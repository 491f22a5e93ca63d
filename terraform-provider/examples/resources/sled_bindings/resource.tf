resource "sled_bindings" "rack_a" {
  name = "rack-a"

  # Keys are MACs: lower case, with colons.
  images = {
    "3c:ec:ef:10:00:01" = "debian-12-v1"
    "3c:ec:ef:10:00:02" = "debian-12-v1"
    "3c:ec:ef:10:00:03" = "debian-12-v2"
  }

  mode         = "auto"
  max_reimages = 20
}
