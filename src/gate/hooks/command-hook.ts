import { basename, extname } from 'node:path';
import type { HookContext, HookEventName, HookMatch } from '../../domain/policy/hook.ts';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import { runProgram, type ExitedProgram, type ProgramRequest } from '../../base/run-program.ts';
import { checkEnding, readOutput, readResultOutput, writeInput } from './command-protocol.ts';
import { HookError } from './call-hook.ts';
import { registerHook, type RegisteredHook } from './registered-hook.ts';

/** A hook that is a program: it reads one JSON object from stdin and answers with its exit code and its output. */
export interface CommandHookSource extends HookMatch {
  /** The program, then its arguments. No shell is involved. */
  readonly command: readonly string[];
  readonly on: HookEventName;
  /** Default: the file name of the script, or of the program, without its extension. */
  readonly id?: string;
  readonly priority?: number;
  readonly timeoutMs?: number;
  /** Names of environment variables that the command gets in addition to PATH, HOME and LANG. */
  readonly env?: readonly string[];
  /** The folder that the command starts in. Default: the working folder of this process. */
  readonly cwd?: string;
}

const ENVIRONMENT = ['PATH', 'HOME', 'LANG'];
const MAX_OUTPUT_BYTES = 1024 * 1024;
const KEPT_ERROR_BYTES = 4096;

export function commandHookId({ id, command }: CommandHookSource): string {
  if (id !== undefined) return id;
  const script = command.slice(1).find((word) => extname(word) !== '' && !word.startsWith('-')) ?? command[0] ?? '';
  return basename(script, extname(script));
}

export function isUsableId(id: string): boolean {
  return NAME_PATTERN.test(id);
}

export function registerCommand(source: CommandHookSource): RegisteredHook {
  const { on, command, priority, timeoutMs, tools, effects } = source;
  const cwd = source.cwd ?? process.cwd();
  const env = environmentOf(source.env ?? []);
  const run = async (event: unknown, { signal }: HookContext): Promise<unknown> => {
    const ended = await runCommand({ command, cwd, env, stdin: writeInput(on, event, cwd), signal });
    if (on === 'before_tool_call') return readOutput(ended);
    return on === 'tool_result' ? readResultOutput(ended) : checkEnding(ended);
  };
  return registerHook({
    id: commandHookId(source),
    on,
    run,
    match: { ...(tools === undefined ? {} : { tools }), ...(effects === undefined ? {} : { effects }) },
    ...(priority === undefined ? {} : { priority }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

async function runCommand(request: Omit<ProgramRequest, 'maxOutputBytes' | 'keptErrorBytes'>): Promise<ExitedProgram> {
  const ending = await runProgram({ ...request, maxOutputBytes: MAX_OUTPUT_BYTES, keptErrorBytes: KEPT_ERROR_BYTES });
  switch (ending.kind) {
    case 'exited':
      return ending;
    case 'not-started':
      throw new HookError('not-started', `it could not be started (${ending.code})`);
    case 'printed-too-much':
      throw new HookError('exited', `it printed more than ${MAX_OUTPUT_BYTES} bytes`);
    case 'stopped':
      throw request.signal.reason;
  }
}

/** The environment of the command: only the default variables and those that the operator named, nothing else of this process's environment. */
function environmentOf(named: readonly string[]): Readonly<Record<string, string>> {
  const entries = [...ENVIRONMENT, ...named].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.freeze(Object.fromEntries(entries));
}
