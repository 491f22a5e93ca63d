# Machines that booted from the network and that nobody declared yet.
data "sled_nodes" "new" {
  discovered = true
}

data "sled_nodes" "rack_a" {
  labels = {
    rack = "a"
  }
}

output "new" {
  value = data.sled_nodes.new.macs
}

output "images_of_rack_a" {
  value = { for node in data.sled_nodes.rack_a.nodes : node.name => node.image }
}
