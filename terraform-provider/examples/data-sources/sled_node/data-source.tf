data "sled_node" "n1" {
  name = "n1"
}

output "phase" {
  value = data.sled_node.n1.phase
}
