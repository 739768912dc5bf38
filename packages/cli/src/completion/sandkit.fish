# For ~/.config/fish/config.fish: sandkit completion fish | source
function __sandkit_complete
    set -l words (commandline -opc)
    set -l found (command sandkit completion fish -- $words[2..] (commandline -ct) 2>/dev/null)
    # What is not known here may be a file.
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c sandkit -f -a '(__sandkit_complete)'
