# Terraform 1.14 or later: terraform apply -invoke=action.sled_reimage.n1
# The portable way is another text in reimage_trigger of the binding.
action "sled_reimage" "n1" {
  config {
    node = "n1"
  }
}
