data "sled_rollouts" "all" {}

resource "sled_bindings" "rack_a" {
  name   = "rack-a"
  images = { "52:54:00:77:00:01" = "debian-12-v1" }

  lifecycle {
    precondition {
      condition     = length(data.sled_rollouts.all.running) == 0
      error_message = "A rollout is running: ${join(", ", data.sled_rollouts.all.running)}."
    }
  }
}
