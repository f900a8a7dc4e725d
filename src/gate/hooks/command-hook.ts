import { basename, extname } from 'node:path';
import type { HookContext, HookEventName, HookMatch } from '../../domain/hook.ts';
import { NAME_PATTERN } from '../../domain/ids.ts';
import { checkEnding, readOutput, readResultOutput, writeInput } from './command-protocol.ts';
import { runProcess } from './run-process.ts';
import { registerHook, type RegisteredHook } from './registered-hook.ts';

/** A hook that is a program: it reads one JSON object and says what it decides. */
export interface CommandHookSource extends HookMatch {
  /** The program, then its arguments. There is no shell. */
  readonly command: readonly string[];
  readonly on: HookEventName;
  /** Without it, the name of the script, or of the program. */
  readonly id?: string;
  readonly priority?: number;
  readonly timeoutMs?: number;
  /** Names of variables it gets beside PATH, HOME and LANG. */
  readonly env?: readonly string[];
  /** The folder it starts in; this process's without it. */
  readonly cwd?: string;
}

const ENVIRONMENT = ['PATH', 'HOME', 'LANG'];

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
    const ended = await runProcess({ command, cwd, env, stdin: writeInput(on, event, cwd), signal });
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

/** Nothing of this process's environment is there unless somebody named it. */
function environmentOf(named: readonly string[]): Readonly<Record<string, string>> {
  const entries = [...ENVIRONMENT, ...named].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.freeze(Object.fromEntries(entries));
}
