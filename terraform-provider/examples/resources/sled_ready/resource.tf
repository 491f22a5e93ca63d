resource "sled_bindings" "rack_a" {
  name = "rack-a"
  images = {
    "3c:ec:ef:10:00:01" = "debian-12-v1"
    "3c:ec:ef:10:00:02" = "debian-12-v1"
  }
}

# Ends when nine of ten run their image. The machines need somebody who boots them meanwhile: playbooks/reimage.yml of Sled.
resource "sled_ready" "rack_a" {
  nodes   = sled_bindings.rack_a.generations
  require = "90%"

  timeouts = {
    create = "30m"
    update = "30m"
  }
}
