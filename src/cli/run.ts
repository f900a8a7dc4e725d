import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { CommanderError } from 'commander';
import { COMMANDS } from './command-table.ts';
import { describeFailure } from './describe-failure.ts';
import { EXIT } from './exit-codes.ts';
import { asTyped } from './own-command.ts';
import { commandWord, createProgram, helpCommand, namedCommand } from './program.ts';
import { createTerminal } from './terminal.ts';

/*
 * V8 makes what seems to live long in its old space at once, and takes the calls of a batch for that. Whatever they refer to then stays
 * until a full collection, which cost workers a third of their time.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/** These end in their own order. `mcp` first hands over the calls of a client that no longer reads. */
const LONG_RUNNING: readonly string[] = ['dev', 'worker', 'mcp'];
let isLongRunning = false;
/** What a mistake in the command line is answered with. */
let help = 'sallyport --help';

/** Whoever reads our output may stop at any time (`| head`); that is no error. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout && !isLongRunning) process.exit(EXIT.ok);
  });
}

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  try {
    await parse(args, namedIn(args));
    await flushed(process.stdout);
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    const code = report(error, args);
    await flushed(process.stdout);
    return code;
  }
}

/** Those that a word of the command line names; none when help comes first, or completion is asked for, as both show all. */
function namedIn(args: readonly string[]): string[] {
  const help = args.findIndex((word) => word === '--help' || word === '-h' || word === 'help');
  if (args.includes('completion')) return [];
  const named = Object.keys(COMMANDS).filter((name) => args.includes(name));
  return help === -1 || named.some((name) => args.indexOf(name) < help) ? named : [];
}

async function parse(args: readonly string[], names: readonly string[]): Promise<void> {
  const program = await createProgram(names.length === 0 ? undefined : names);
  if (args.length === 0) program.help({ error: true });
  help = helpCommand(namedCommand(program, args));
  program.hook('preAction', (_, action) => void (isLongRunning = LONG_RUNNING.includes(commandWord(action))));
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    // What was named may be the value of an option, and the command a mistyped one: its neighbours are told from all.
    const isPartial = names.length > 0 && error instanceof CommanderError && error.code === 'commander.unknownCommand';
    if (!isPartial) throw error;
    await parse(args, []);
  }
}

function report(error: unknown, args: readonly string[]): number {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  // The help it printed says it all.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage;
  const json = args.includes('--json');
  const terminal = createTerminal({ json, env: process.env });
  terminal.showProgress('');
  const { code, message, fix, exitCode } = describeFailure(error, help);
  if (json) terminal.printJson({ error: { code, message, ...(fix === undefined ? {} : { fix: asTyped(fix) }) } });
  terminal.fail(message, fix);
  if (args.includes('--debug')) process.stderr.write(`${inspect(error, { depth: 6 })}\n`);
  return exitCode;
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}
