#!/usr/bin/env bash
# Runs a command and fails when it changes a file that git tracks or adds one it does not ignore:
#
#   hack/verify-unchanged.sh make generate
#
# Uncommitted work counts as it stands, so that it can be run at any time.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"

snapshot() {
  git ls-files --cached --others --exclude-standard -z | sort -zu |
    while IFS= read -r -d '' file; do [ -f "$file" ] && sha256sum "$file"; done
}

before=$(snapshot)
"$@"
after=$(snapshot)
if [ "$before" != "$after" ]; then
  echo "stale: '$*' changes these files; run it and commit what it writes:" >&2
  diff <(echo "$before") <(echo "$after") | awk '/^[<>]/ {print "  " $3}' | sort -u >&2
  exit 1
fi
