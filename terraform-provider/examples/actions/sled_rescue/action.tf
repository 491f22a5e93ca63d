# Terraform 1.14 or later: terraform apply -invoke=action.sled_rescue.n1
# No disk is touched. action.sled_rescue.end ends it.
action "sled_rescue" "n1" {
  config {
    node            = "n1"
    authorized_keys = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEw4O8lZx8U8mKq0yqk0n8b2z1q9yq3m2q8s4vLr9w0T ops"]
  }
}

action "sled_rescue" "end" {
  config {
    node = "n1"
    end  = true
  }
}
