import type { CompletedCommand } from './command-tree.ts';

/**
 * The completion script for plain bash 3.2 and newer, without a helper package. Nothing needs quoting: names of commands, options and choices
 * contain no character that is special to a shell.
 */
export function bashScript(tree: readonly CompletedCommand[]): string {
  return `# Completion of sallyport for bash. Use it: source <(sallyport completion bash)

# Sets what can follow a command: its subcommands, options, options that take a value, and choices of its arguments.
_sallyport_at() {
  subcommands='' options='' valued='' choices=()
  case "$1" in
${tree.map(atBranch).join('\n')}
  esac
}

# Sets the choices of an option's value; empty means any.
_sallyport_values() {
  values=''
  case "$1 $2" in
${tree.flatMap(valueBranches).join('\n')}
  esac
}

_sallyport() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path='' place=0 at word subcommands options valued choices values
  _sallyport_at ''
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    if [[ " $valued " == *" $word "* ]]; then
      at=$((at + 1))
    elif [[ "$word" == -* ]]; then
      continue
    elif [[ " $subcommands " == *" $word "* ]]; then
      path="\${path:+$path }$word" place=0
      _sallyport_at "$path"
    else
      place=$((place + 1))
    fi
  done
  COMPREPLY=()
  if [[ " $valued " == *" $previous "* ]]; then
    _sallyport_values "$path" "$previous"
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$subcommands \${choices[place]:-}" -- "$current"))
  fi
}

complete -o default -F _sallyport sallyport
`;
}

function atBranch({ path, subcommands, options, argumentChoices }: CompletedCommand): string {
  const names = (all: readonly { readonly name: string }[]): string => all.map(({ name }) => name).join(' ');
  const valued = options.filter(({ takesValue }) => takesValue);
  return [
    `    '${path}')`,
    `      subcommands='${names(subcommands)}'`,
    `      options='${names(options)}'`,
    `      valued='${names(valued)}'`,
    `      choices=(${argumentChoices.map((words) => `'${words.join(' ')}'`).join(' ')}) ;;`,
  ].join('\n');
}

function valueBranches({ path, options }: CompletedCommand): string[] {
  return options
    .filter(({ choices }) => choices.length > 0)
    .map(({ name, choices }) => `    '${path} ${name}') values='${choices.join(' ')}' ;;`);
}
