# Completion for fish. Commands and options are what --help lists; agents, grants and namespaces are
# what is there now.
function __stile_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -l command
    set -l given
    set -l is_value
    if set -l at (contains -i -- -- $words)  # what follows is a command of its own
        set -l other $words[(math $at + 1)..-1] (commandline -ct)
        complete -C (string join ' ' -- $other)
        return
    end
    for word in $words[2..-1]
        if test -n "$is_value"
            set is_value
            continue
        end
        if string match -q -- '-*' $word
            # In the help, the value of an option is in capitals.
            $program $command --help 2>/dev/null | string match -qr -- "^ +(-.,)?$word [A-Z]"; and set is_value 1
            continue
        end
        test $word = help; and continue
        if $program $command --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/p' | string match -qr "^  $word "
            set -a command $word
        else
            set -a given $word
        end
    end
    set -l help ($program $command --help 2>/dev/null); or return
    if string match -q -- '-*' (commandline -ct)
        printf '%s\n' $help | string replace -fr -- '^ +(?:-.,)?(--[a-z-]+).*' '$1' | sort -u
        return
    else if string match -q 'Subcommands:' $help
        printf '%s\n' $help | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z-]+) +(.*)/\1\t\2/p'
        return
    end
    if test -n "$is_value"; and not contains -- $words[-1] --grant --agent --can --profile
        __fish_complete_path (commandline -ct)
        return
    end
    switch (path basename $program):$command[1]:$words[-1]:(count $given)
        case 'stile:can:*:0' 'stile:run:--can:*'
            $program can 2>/dev/null | awk 'NR > 1 { print $1 }'
        case 'stile:profile:*:0' 'stile:run:--profile:*'
            $program profile 2>/dev/null | awk 'NR > 1 { print $1 }'
        case 'stile:mode:*:0'
            printf '%s\n' enforce observe offline
        case 'stile:approve:*:0' 'stile:refuse:*:0'
            $program asks 2>/dev/null | awk '/^  next/ { exit } NR > 1 { print $1 }'
        case 'stile:*:--grant:*'
            $program agents $given[1] 2>/dev/null | awk 'found { print $1 } /^GRANT/ { found = 1 }'
        case 'stile:*:--agent:*' 'stile:mode:*:1' 'stile:agents:*:0' 'stile:allow:*:0' 'stile:revoke:*:0' 'stile:explain:*:0' 'stile:remove-agent:*:0' 'stile:budget:*:0'
            $program agents 2>/dev/null | awk 'NR > 1 { print $1 }'
        case 'stile:workers:*:0' 'stile:send:*:0' 'stile:logs:*:0' 'stile:stop:*'
            $program workers 2>/dev/null | awk '/^there is no/ { exit } NR > 1 { print $1 }'
        case 'stile-netns:delete:*:0' 'stile-netns:exec:*:0' 'stile-netns:check:*:0' 'stile-netns:create:*:0'
            set -q STILE_NETNS_DIR; or set -l STILE_NETNS_DIR /run/netns
            find $STILE_NETNS_DIR -name 'agent-*' -printf '%f\n' 2>/dev/null | sed 's/^agent-//'
        case '*'
            __fish_complete_path (commandline -ct)
    end
end

for program in stile stiled stile-fleet stile-netns stile-spawner stile-web
    complete -c $program -f -a '(__stile_complete)'
end
