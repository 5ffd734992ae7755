import type { Shell } from '../../shapes/completion/completion-shape.ts';

// Each asks the program itself, so that a script once installed knows every later command, session and workflow.
// `$1` and `${words[1]}` are the program as it was typed, which need not be the one on the PATH.

const BASH = `# workrail completion for bash. To use it: source <(workrail completion bash)
_workrail() {
  local value about
  local -a values=() shown=()
  while IFS=' ' read -r value about; do
    [[ -n $value ]] || continue
    values+=("$value")
    shown+=("$value  ($about)")
  done < <("$1" completion bash --complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  # What each is stands beside it only in a list, where bash inserts nothing.
  if (( \${#values[@]} > 1 )) && [[ $COMP_TYPE == 63 || $COMP_TYPE == 33 || $COMP_TYPE == 64 ]]; then
    COMPREPLY=("\${shown[@]}")
  else
    COMPREPLY=("\${values[@]}")
  fi
}
complete -o default -o nosort -F _workrail workrail
`;

const ZSH = `#compdef workrail
# workrail completion for zsh. To use it: source <(workrail completion zsh)
_workrail() {
  local value about
  local -a values shown
  while IFS=' ' read -r value about; do
    [[ -n $value ]] || continue
    values+=("$value")
    shown+=("$value  -- $about")
  done < <("\${words[1]}" completion zsh --complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#values} > 0 )); then
    compadd -V workrail -l -d shown -a values
  else
    _files
  fi
}
if [[ $funcstack[1] == _workrail ]]; then
  _workrail "$@"
else
  compdef _workrail workrail
fi
`;

const FISH = `# workrail completion for fish. To use it: workrail completion fish | source
function __workrail_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completion fish --complete -- $words[2..-1] 2>/dev/null | string replace ' ' \\t
end
complete -c workrail -f -k -a '(__workrail_complete)'
`;

/** What a shell reads to complete our command lines. */
export const COMPLETION_SCRIPTS: { readonly [shell in Shell]: string } = { bash: BASH, zsh: ZSH, fish: FISH };
