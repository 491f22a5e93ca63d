# Terraform 1.14 or later: terraform apply -invoke=action.sled_run.burn_in
# Ends when the payload has ended; its output is read with sledctl job logs.
action "sled_run" "burn_in" {
  config {
    node    = "n1"
    image   = "memtester"
    command = ["memtester", "1G", "1"]
    timeout = 7200
  }
}
