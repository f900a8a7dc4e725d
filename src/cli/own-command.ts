import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { shellWord } from '../base/shell-word.ts';

export { shellWord };

const BUILT = join('dist', 'cli', 'main.js');
const { SALLYPORT_STARTED_AS: startedAs, PATH: path = '' } = process.env;
// Child processes must not inherit this variable, because this launcher did not start them.
delete process.env['SALLYPORT_STARTED_AS'];

interface Start {
  /** The file that Node runs. */
  readonly script: string;
  readonly cwd: string;
  /** How the launcher of a clone was called: its `$0`. */
  readonly startedAs?: string | undefined;
  /** The folders of PATH. */
  readonly path?: readonly string[];
  readonly exists?: (file: string) => boolean;
}

/** The command that starts this program, as its user would type it in the current folder. Every hint uses it. @internal */
export function ownCommand({ script, cwd, startedAs, path = [], exists = existsSync }: Start): string {
  if (startedAs !== undefined && startedAs !== '') {
    const isFound = isAbsolute(startedAs) && path.includes(dirname(startedAs));
    return shellWord(isFound ? basename(startedAs) : startedAs);
  }
  if (basename(script) === 'sallyport')
    return script.includes(`${sep}node_modules${sep}`) ? 'npx sallyport' : 'sallyport';
  // In a clone, use the launcher script: it finds a Node that is new enough.
  const launcher = script.endsWith(`${sep}${BUILT}`) ? `${script.slice(0, -BUILT.length)}sallyport` : undefined;
  if (launcher === undefined || !exists(launcher)) return `node ${shellWord(placeOf(script, cwd))}`;
  const place = placeOf(launcher, cwd);
  return shellWord(place.includes(sep) ? place : `.${sep}${place}`);
}

/** From the root folder a relative path looks like one of another folder, so it stays absolute. */
function placeOf(file: string, cwd: string): string {
  return cwd === sep ? file : relative(cwd, file);
}

/** Cache for `thisCommand`: how the process was started does not change. */
let known: string | undefined;

/** The command that starts this program, for this process, without the flags that name a store. Hints use `asTyped` instead. */
export function thisCommand(): string {
  known ??= ownCommand({
    script: process.argv[1] ?? 'sallyport',
    cwd: process.cwd(),
    startedAs,
    path: path.split(delimiter),
  });
  return known;
}

/** The flags that lead to the store of this process; `createContext` sets them. */
let storeFlags: readonly string[] = [];

/** Every command that this process prints from now on has these flags, and so acts on the same store. */
export function setStoreFlags(flags: readonly string[]): void {
  storeFlags = flags;
}

/** The command to type in another terminal, in the same folder, to reach the same store: `./sallyport --folder plane`. */
export function sameStoreCommand(): string {
  return [thisCommand(), ...storeFlags].join(' ');
}

interface Typed {
  readonly command?: string;
  /** The flags that lead to the store. */
  readonly flags?: readonly string[];
}

/**
 * Rewrites the commands in a text so that the user can paste them, and they act on the store of this process: `./sallyport --folder plane
 * calls list` in a clone. Everything that this program prints names commands as `sallyport …` and passes through here. A text may pass
 * twice. A command that shows help gets no flags.
 */
export function asTyped(text: string, { command = thisCommand(), flags = storeFlags }: Typed = {}): string {
  const whole = [command, ...flags].join(' ');
  if (whole === 'sallyport') return text;
  return text.replaceAll(/(?<![\w./-]|npx )sallyport (?=[a-z-])/g, (word: string, at: number) => {
    const rest = text.slice(at);
    if (rest.startsWith(`${whole} `)) return word;
    return `${/^sallyport ([a-z-]+ )*--help\b/.test(rest) ? command : whole} `;
  });
}
