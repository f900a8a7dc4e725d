import type { CompletedCommand, CompletedOption } from './command-tree.ts';

/** The completion script for fish: one `complete` line for each command and option. A shell function finds the command that was typed so far. */
export function fishScript(tree: readonly CompletedCommand[]): string {
  const valued = new Set(tree.flatMap(({ options }) => options.filter(takesValue).map(({ name }) => name)));
  const paths = tree.map(({ path }) => path).filter((path) => path !== '');
  return `# Completion of sallyport for fish. Use it: sallyport completion fish | source

function __sallyport_path
    set -l commands ${paths.map(quoted).join(' ')}
    set -l valued ${[...valued].join(' ')}
    set -l path
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip -eq 1
            set skip 0
        else if contains -- $word $valued
            set skip 1
        else if contains -- (string join ' ' -- $path $word) $commands
            set -a path $word
        end
    end
    string join ' ' -- $path
end

function __sallyport_at
    test (__sallyport_path | string collect --allow-empty) = "$argv[1]"
end

${tree.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, subcommands, options, argumentChoices }: CompletedCommand): string[] {
  const here = `complete -c sallyport -n '__sallyport_at "${path}"'`;
  return [
    ...subcommands.map(({ name, description }) => `${here} -f -a ${name} -d ${quoted(description)}`),
    ...argumentChoices.flatMap((words) => (words.length === 0 ? [] : [`${here} -f -a ${quoted(words.join(' '))}`])),
    ...options.map((option) => {
      const { name, description, choices } = option;
      const flag = name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
      const value = !takesValue(option) ? '' : choices.length === 0 ? ' -r' : ` -x -a ${quoted(choices.join(' '))}`;
      return `${here} ${flag}${value} -d ${quoted(description)}`;
    }),
  ];
}

function takesValue(option: CompletedOption): boolean {
  return option.takesValue;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
