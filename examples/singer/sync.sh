#!/usr/bin/env bash
# One sync: the tap goes on from state.json, the target writes what comes and tells what the tap shall keep as its state.
# TAP_REST_API_MSDK_API_URL, TAP_REST_API_MSDK_USERNAME and TAP_REST_API_MSDK_PASSWORD say where and as whom.
# A tap that fails leaves the state as it was: that of an incomplete harvest would lose what was not told.
set -euo pipefail
here=$(dirname "$0")
[ -f state.json ] || echo '{}' >state.json
tap-rest-api-msdk --config "$here/tap.json" --config ENV --state state.json |
  target-duckdb --config "$here/target.json" >states.jsonl
[ ! -s states.jsonl ] || tail -n 1 states.jsonl >state.json
