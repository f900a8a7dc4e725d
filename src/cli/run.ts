import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { CommanderError } from 'commander';
import { lostOutput } from './command-failure.ts';
import { COMMANDS } from './command-table.ts';
import { describeFailure } from './describe-failure.ts';
import { EXIT } from './exit-codes.ts';
import { asTyped } from './own-command.ts';
import { commandWords, createProgram, helpCommand, namedCommand, refuseUnknownTopic } from './program.ts';
import { createTerminal } from './terminal.ts';

/*
 * V8 allocates objects that it expects to live long directly in its old space, and it wrongly expects that of the calls of a batch.
 * Everything that these calls refer to then stays in memory until a full collection. Such collections cost workers a third of their time.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * Commands that continue when their standard output is closed, because they must end in their own order. For example, `mcp` first hands
 * over the calls of a client that no longer reads.
 */
const LONG_RUNNING: readonly string[] = ['dev', 'worker', 'gateway', 'mcp'].map((name) => `sallyport ${name}`);
let isLongRunning = false;
/** The help command that is suggested after a mistake in the command line. */
let help = 'sallyport --help';

/**
 * The reader of the output may close the pipe at any time (`| head`). That is not an error. A write error such as a full disk is reported
 * on standard error and ends the command. Long-running commands continue in both cases.
 */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (stream === process.stderr || isLongRunning) return;
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    process.stderr.write(`sallyport: ${lostOutput(error).message}\n`);
    process.exit(EXIT.unavailable);
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

/**
 * The names of the commands to load: those that occur in the command line. Empty, which loads all commands, when help comes first or
 * `completion` is asked for: both show all commands.
 */
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
  refuseUnknownTopic(program, args);
  program.hook('preAction', (_, action) => void (isLongRunning = LONG_RUNNING.includes(commandWords(action))));
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    // The word that was found may be the value of an option, and the real command may be
    // mistyped. Parse again with all commands, so that the error can suggest similar ones.
    const isPartial = names.length > 0 && error instanceof CommanderError && error.code === 'commander.unknownCommand';
    if (!isPartial) throw error;
    await parse(args, []);
  }
}

function report(error: unknown, args: readonly string[]): number {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  // Commander has already printed the help, so no message is needed.
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
