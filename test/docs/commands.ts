import type { Command, Option } from 'commander';
import { codeBlocks, inlineCode, type Page } from './pages.ts';

/** A `sallyport` command line on a page. */
export interface ShownCommand {
  readonly place: string;
  readonly line: string;
  /** True in a code block, from which readers copy the whole command. In running text it may be only the command's name. */
  readonly whole: boolean;
}

const PROGRAM = /^(?:npx |\.\/)?sallyport(?:\s+|$)/;

export function shownCommands(page: Page): ShownCommand[] {
  const blocks = codeBlocks(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ place, text }) => text.split('\n').map((line) => ({ place, line: line.trim(), whole: true })));
  const inline = inlineCode(page).map(({ place, code }) => ({ place, line: code, whole: false }));
  return [...blocks, ...inline].filter(
    ({ line }) => PROGRAM.test(line) && line !== 'sallyport' && line !== 'npx sallyport',
  );
}

/** The reason why the program would refuse the line; undefined if it would accept it. */
export function problemOf({ line, whole }: ShownCommand, program: Command): string | undefined {
  const words = splitWords(line.replace(PROGRAM, ''));
  let command = program;
  const known: Option[] = [...program.options];
  const given: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '--help' || (word === 'help' && command === program)) continue;
    if (word.startsWith('-')) {
      const [flag, value] = word.split('=', 2);
      const option = known.find(({ long, short }) => long === flag || short === flag);
      if (option === undefined) return `${command.name()} has no ${word}`;
      if (option.required && value === undefined) at += 1;
      continue;
    }
    const child: Command | undefined =
      given.length === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined;
    if (child !== undefined) {
      command = child;
      known.push(...child.options);
    } else if (command.commands.length > 0) return `${command.name()} has no command ${word}`;
    else given.push(word);
  }
  return whole ? argumentProblem(command, given) : undefined;
}

function argumentProblem(command: Command, given: readonly string[]): string | undefined {
  const { registeredArguments } = command;
  const needed = registeredArguments.filter(({ required }) => required).length;
  if (given.length < needed) return `${command.name()} needs ${needed} arguments`;
  if (registeredArguments.at(-1)?.variadic === true) return undefined;
  return given.length > registeredArguments.length ? `${command.name()} takes no ${given.at(-1)}` : undefined;
}

/** Splits a line as a shell does, as far as the pages need it: quotes, comments, redirections. */
function splitWords(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const end = words.findIndex((word) => word === '#' || word.startsWith('#') || word === '>' || word === '|');
  return end < 0 ? words : words.slice(0, end);
}
