import type { CompletedCommand, CompletedOption, Described } from './command-tree.ts';

/** The completion script for zsh: a function for zsh's own completion system, with descriptions. */
export function zshScript(tree: readonly CompletedCommand[]): string {
  return `#compdef sallyport
# Completion of sallyport for zsh. Use it: source <(sallyport completion zsh), after compinit.

_sallyport_at() {
  subcommands=() options=() valued=() choices=()
  case "$1" in
${tree.map(atBranch).join('\n')}
  esac
}

_sallyport_values() {
  values=()
  case "$1 $2" in
${tree.flatMap(valueBranches).join('\n')}
  esac
}

_sallyport() {
  local route='' word
  local -i at place=1
  local -a subcommands options valued choices values names
  _sallyport_at ''
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    names=("\${(@)subcommands%%:*}")
    if (( \${valued[(Ie)$word]} )); then
      (( at++ ))
    elif [[ "$word" == -* ]]; then
      continue
    elif (( \${names[(Ie)$word]} )); then
      route="\${route:+$route }$word"
      place=1
      _sallyport_at "$route"
    else
      (( place++ ))
    fi
  done
  if (( \${valued[(Ie)\${words[CURRENT-1]}]} )); then
    _sallyport_values "$route" "\${words[CURRENT-1]}"
    if (( \${#values} )); then compadd -a values; else _files; fi
  elif [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o option options
  elif (( \${#subcommands} )); then
    _describe command subcommands
  elif [[ -n "\${choices[place]:-}" ]]; then
    compadd -- \${=choices[place]}
  else
    _files
  fi
}

if [[ "\${funcstack[1]}" == _sallyport ]]; then _sallyport "$@"; else compdef _sallyport sallyport; fi
`;
}

function atBranch({ path, subcommands, options, argumentChoices }: CompletedCommand): string {
  const valued = options.filter(({ takesValue }) => takesValue).map(({ name }) => name);
  return [
    `    '${path}')`,
    `      subcommands=(${subcommands.map(described).join(' ')})`,
    `      options=(${options.map(described).join(' ')})`,
    `      valued=(${valued.join(' ')})`,
    `      choices=(${argumentChoices.map((words) => quoted(words.join(' '))).join(' ')}) ;;`,
  ].join('\n');
}

/** A name with its description, in the form that zsh expects: `name:description`. */
function described({ name, description }: Described): string {
  return quoted(`${name}:${description}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function valueBranches({ path, options }: CompletedCommand): string[] {
  return options
    .filter(({ choices }: CompletedOption) => choices.length > 0)
    .map(({ name, choices }) => `    '${path} ${name}') values=(${choices.join(' ')}) ;;`);
}
