#!/usr/bin/env bash
# Runs the checks of the action in the current directory. Its inputs are the variables that action.yml sets.
#
# Exit status: 0 if nothing is wrong, and else that of the first check that failed. What was found goes to the log, to the summary of the job,
# and to the files whose names it writes to GITHUB_OUTPUT.
set -euo pipefail

module=github.com/statuspatcher/statuspatcher
out=$(mktemp -d)
version=${VERSION:-$(go list -m -f '{{.Version}}' "$module/patcher" 2>/dev/null || true)}
GOBIN=$out GOFLAGS='' go install "$module/cmd/statuspatcher-gen@${version:-latest}" "$module/cmd/statuspatcher-lint@${version:-latest}"
read -ra packages <<<"${PACKAGES:-./...}"

status=0
check() { "$@" || { local failed=$?; [ "$status" -ne 0 ] || status=$failed; }; }

[ -z "${API:-}" ] || check "$out/statuspatcher-gen" "paths=$API" verify

flags=()
if [ -n "${BASE:-}" ]; then
	git worktree add --quiet --detach "$out/base" "$BASE"
	trap 'git worktree remove --force "$out/base"' EXIT
	(cd "$out/base/$(git rev-parse --show-prefix)" && "$out/statuspatcher-lint" -audit -format=json "${packages[@]}") >"$out/base.json"
	flags+=("-baseline=$out/base.json")
fi
# What the audit could not look at, the lint rule reports again.
"$out/statuspatcher-lint" -audit -format=sarif "${flags[@]}" "${packages[@]}" >"$out/statuspatcher.sarif" 2>"$out/log" || cat "$out/log" >&2
"$out/statuspatcher-lint" -audit -format=markdown "${flags[@]}" "${packages[@]}" >"$out/audit.md" 2>"$out/log" || true
[ "${BAN:-false}" != true ] || flags+=(-ban)
check "$out/statuspatcher-lint" "${flags[@]}" "${packages[@]}"

cat "$out/audit.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
{
	echo "sarif=$out/statuspatcher.sarif"
	! grep -q '^### To fix' "$out/audit.md" || echo "comment=$out/audit.md"
} >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
