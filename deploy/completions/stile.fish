# Completion for fish: what can be said is what --help says; agents are asked of the daemon.
function __stile_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -l command
    for word in $words[2..-1]
        string match -q -- '-*' $word; and continue
        $program $command --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/p' | string match -qr "^  $word "
        and set -a command $word
    end
    set -l help ($program $command --help 2>/dev/null); or return
    if string match -q -- '-*' (commandline -ct)
        printf '%s\n' $help | string match -ar -- '--[a-z-]+'
    else if string match -q 'Subcommands:' $help
        printf '%s\n' $help | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z-]+) +(.*)/\1\t\2/p'
    else if string match -q '*AGENT*' $help; and string match -q '*stile' $program
        $program agents 2>/dev/null | awk 'NR > 1 { print $1 }'
    else
        __fish_complete_path (commandline -ct)
    end
end

for program in stile stiled stile-netns
    complete -c $program -f -a '(__stile_complete)'
end
