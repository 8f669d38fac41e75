#!/usr/bin/env bash
# Replaces the services of the closed system, one after the other, by another version. COMPOSE_FILE and the settings of
# docs/operator.md must be set, as for `docker-compose up`.
#
#   deploy/compose/upgrade.sh VERSION         builds images with the tag VERSION, provisions, replaces readers first
#   deploy/compose/upgrade.sh --back VERSION  replaces writers first, by images that are still there; provisions nothing
set -euo pipefail

readonly READERS_FIRST=(callback-dispatcher auth-expiry threeds payout card-processing api-edge)
readonly WRITERS_FIRST=(api-edge card-processing payout threeds auth-expiry callback-dispatcher)
COMPOSE=${COMPOSE:-docker-compose}

usage() {
  echo "usage: ${0##*/} [--back] VERSION" >&2
  exit 2
}

# One that does not become healthy ends the script: the services after it keep their version.
replace() {
  for service in "$@"; do
    echo "$service: $GATEWAY_VERSION"
    "$COMPOSE" up --detach --no-deps --no-build --wait "$service"
  done
}

back=no
[[ ${1:-} == --back ]] && { back=yes; shift; }
[[ $# -eq 1 && $1 =~ ^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$ ]] || usage
export GATEWAY_VERSION=$1

if [[ $back == yes ]]; then
  replace "${WRITERS_FIRST[@]}"
else
  # Each tag is built once: the images of the version that runs are the way back.
  "$COMPOSE" build
  "$COMPOSE" run --rm --no-deps provision
  replace "${READERS_FIRST[@]}"
fi
