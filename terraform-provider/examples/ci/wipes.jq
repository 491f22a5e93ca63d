# Prints every disk that a saved plan wipes, one machine per line; nothing: the plan wipes none.
#   terraform show -json plan.tfplan | jq -r -f wipes.jq
# A line that ends in "known after apply" is a machine that the plan may wipe, depending on what the apply finds.

def later: "\(.): known after apply";

# What a destroy leaves behind: with on_destroy = "wipe" a binding that wipes all disks.
def destroyed: select(.on_destroy == "wipe");

def binding:
  .address as $address | .change |
  (
    select((.actions | index("delete")) and (.after == null or .after.mac != .before.mac)) |
    .before | destroyed | # the state from before the refresh: what is bound now may have an image
    "\(.node): all disks, generation \(.generation) -> a later one, image \(.image // "none") -> none"
  ),
  if .after_unknown.wipes == true then
    (.after.node // $address) | later
  else
    select(.after.wipes != null and .after.wipes != .before.wipes) | .after.wipes
  end;

def bindings:
  .address as $address | .change | . as $change |
  if .after == null then
    .before | destroyed | .generations as $generations | .images | to_entries[] |
    "\(.key): all disks, generation \($generations[.key]) -> a later one, image \(.value) -> none"
  elif .after_unknown.wipes == true then
    $address | later
  else
    ((.after_unknown.wipes // {}) | to_entries[] | select(.value == true) | .key | later),
    ((.after.wipes // {}) | to_entries[] | select(.value != null and .value != $change.before.wipes[.key]) | .value)
  end;

.resource_changes[]? | select(.change.actions != ["no-op"]) |
  if .type == "sled_binding" then binding elif .type == "sled_bindings" then bindings else empty end
