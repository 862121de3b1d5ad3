# Completion for bash: stile, stiled, stile-netns. What can be said is what --help says, so that this
# never lags behind; agents are asked of the daemon.
_stile() {
  local program=$1 current=${COMP_WORDS[COMP_CWORD]} word help words
  local command=()
  # The words that choose a subcommand: those that the help of what stands before them lists.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -- ]] && { _stile_default; return; }
    [[ $word == -* ]] && continue
    help=$("$program" "${command[@]}" --help 2>/dev/null) || return
    grep -q "^  $word " <<<"${help#*Subcommands:}" && [[ $help == *Subcommands:* ]] && command+=("$word")
  done
  help=$("$program" "${command[@]}" --help 2>/dev/null) || return
  if [[ $current == -* ]]; then
    words=$(grep -oE -- '(^|[ ,])--[a-z-]+' <<<"$help" | tr -d ' ,')
  elif [[ $help == *Subcommands:* ]]; then
    words=$(sed -nE '/^Subcommands:/,/^$/s/^  ([a-z-]+) .*/\1/p' <<<"$help")
  elif [[ $program == *stile && $help == *AGENT* ]]; then
    words=$("$program" agents 2>/dev/null | awk 'NR > 1 { print $1 }')
  else
    _stile_default
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

_stile_default() { compopt -o default 2>/dev/null; COMPREPLY=(); }

complete -F _stile stile stiled stile-netns
