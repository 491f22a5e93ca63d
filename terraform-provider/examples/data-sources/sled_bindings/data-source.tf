data "sled_bindings" "all" {}

# Machines that somebody else than Terraform has bound.
output "others" {
  value = { for mac, owner in data.sled_bindings.all.owners : mac => owner if !startswith(owner, "terraform") }
}

data "sled_bindings" "rack_a" {
  owner = "terraform:rack-a"
}

output "not_done" {
  value = data.sled_bindings.rack_a.unsatisfied
}
