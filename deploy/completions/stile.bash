# Completion for bash: stile, stiled, stile-fleet, stile-netns, stile-spawner, stile-web. Commands and options
# are what --help lists, so that this never lags behind; agents, grants and namespaces are what is there now.
_stile() {
  local program=$1 current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} word help words at=0
  local command=() given=() is_value=
  help=$("$program" --help 2>/dev/null) || return
  # The words that choose a subcommand: the help of the words before them lists these.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ((++at))
    [[ $word == -- ]] && { _stile_other_command $((at + 1)); return; }
    [[ $is_value ]] && { is_value=; continue; }
    # In the help, the value of an option is in capitals.
    [[ $word == -* ]] && { grep -qE -- "^ +(-.,)?$word [A-Z]" <<<"$help" && is_value=1; continue; }
    [[ $word == help ]] && continue
    if grep -q "^  $word " <<<"${help#*Subcommands:}" && [[ $help == *Subcommands:* ]]; then
      command+=("$word")
      help=$("$program" "${command[@]}" --help 2>/dev/null) || return
    else
      given+=("$word")
    fi
  done
  if [[ $current == -* ]]; then
    words=$(sed -nE 's/^ +(-.,)?(--[a-z-]+).*/\2/p' <<<"$help" | sort -u)
  elif [[ $help == *Subcommands:* ]]; then
    words=$(sed -nE '/^Subcommands:/,/^$/s/^  ([a-z-]+) .*/\1/p' <<<"$help")
  else
    [[ $is_value && ! $previous =~ ^--(grant|agent|can|profile)$ ]] && { _stile_default; return; }
    case ${program##*/}:${command[0]}:$previous:${#given[@]} in
      stile:can:*:0 | stile:run:--can:*) words=$("$program" can 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
      stile:profile:*:0 | stile:run:--profile:*) words=$("$program" profile 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
      stile:mode:*:0) words="enforce observe offline" ;;
      stile:approve:*:0 | stile:refuse:*:0)
        words=$("$program" asks 2>/dev/null | awk '/^  next/ { exit } NR > 1 { print $1 }') ;;
      stile:*:--grant:*) words=$("$program" agents "${given[0]}" 2>/dev/null | awk 'found { print $1 } /^GRANT/ { found = 1 }') ;;
      stile:*:--agent:* | stile:mode:*:1 | stile:agents:*:0 | stile:allow:*:0 | stile:revoke:*:0 | \
      stile:explain:*:0 | stile:remove-agent:*:0 | stile:budget:*:0)
        words=$("$program" agents 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
      stile:workers:*:0 | stile:send:*:0 | stile:logs:*:0 | stile:stop:*)
        words=$("$program" workers 2>/dev/null | awk '/^there is no/ { exit } NR > 1 { print $1 }') ;;
      stile-netns:delete:*:0 | stile-netns:exec:*:0 | stile-netns:check:*:0 | stile-netns:create:*:0)
        words=$(_stile_namespaces) ;;
      *) _stile_default; return ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

_stile_namespaces() { find "${STILE_NETNS_DIR:-/run/netns}" -name 'agent-*' -printf '%f\n' 2>/dev/null | sed 's/^agent-//'; }
# What follows `--` is a command of its own, from that word on.
_stile_other_command() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}" | sort -u)
  else
    _stile_default
  fi
}
_stile_default() { compopt -o default 2>/dev/null; COMPREPLY=(); }

complete -F _stile stile stiled stile-fleet stile-netns stile-spawner stile-web
