# Terraform 1.14 or later: terraform apply -invoke=action.sled_wipe.old
# All disks of these machines are wiped at their next boot, but for keep_disks.
action "sled_wipe" "old" {
  config {
    nodes = ["n7", "n8"]
    level = "purge"
  }
}
