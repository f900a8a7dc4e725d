import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  SECRET_COMMAND_DEFAULTS,
  type SecretCommand,
  type SecretProvider,
} from '../../domain/secret/secret-provider.ts';
import { SECRET_NAME } from '../../domain/secret/secret-reference.ts';
import type { ReadSecret, SecretSource } from '../../domain/ports/secret-source.ts';
import type { StopSignal } from '../../domain/ports/tool-runner.ts';
import { readPrivateFile } from '../../base/read-private-file.ts';
import { runSecretCommand } from './run-secret-command.ts';

/** One configured provider. `read` is called only with names for which `knows` is true. */
interface Asked {
  knows(name: string): boolean;
  read(name: string): ReadSecret | Promise<ReadSecret>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A shorter secret is refused: it would also match ordinary text, so removing it would spoil results. */
const MIN_SECRET_CHARACTERS = 4;

export function createSecretSource(providers: readonly SecretProvider[], env: Environment = process.env): SecretSource {
  const asked = providers.map((provider) => toAsked(provider, env));
  const find = (name: string): Asked | undefined =>
    SECRET_NAME.test(name) ? asked.find((provider) => provider.knows(name)) : undefined;
  return {
    knows: (name) => find(name) !== undefined,
    async read(name, signal) {
      const provider = find(name);
      if (provider === undefined) return problem('no provider knows it');
      return checked(await unlessAborted(provider.read(name), signal));
    },
  };
}

function toAsked(provider: SecretProvider, env: Environment): Asked {
  if ('environment' in provider)
    return fromEnvironment((name) => (provider.environment.includes(name) ? name : ''), env);
  if ('environmentPrefix' in provider) return fromEnvironment((name) => provider.environmentPrefix + name, env);
  if ('folder' in provider) {
    const path = (name: string): string => join(provider.folder, name);
    return { knows: (name) => existsSync(path(name)), read: (name) => fromFile(path(name)) };
  }
  const knows = (name: string): boolean => name === provider.name;
  return 'file' in provider ? { knows, read: () => fromFile(provider.file) } : { knows, read: fromCommand(provider) };
}

function fromEnvironment(variableOf: (name: string) => string, env: Environment): Asked {
  return {
    knows: (name) => (env[variableOf(name)] ?? '') !== '',
    read: (name) => ({ kind: 'read', value: env[variableOf(name)] ?? '' }),
  };
}

/** The file is read each time: replacing the file changes the secret. */
function fromFile(path: string): ReadSecret {
  try {
    const read = readPrivateFile(path);
    return read.kind === 'read' ? { kind: 'read', value: read.text } : problem(`its file ${read.problem}`);
  } catch (error) {
    return problem(`its file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

/** Concurrent calls share one run of the command. A value is cached for `cacheMs`; a failure is not cached. */
function fromCommand(command: SecretCommand): () => Promise<ReadSecret> {
  const { cacheMs = SECRET_COMMAND_DEFAULTS.cacheMs } = command;
  let running: Promise<ReadSecret> | undefined;
  let known: { readonly answer: ReadSecret; readonly until: number } | undefined;
  return () => {
    if (known !== undefined && performance.now() < known.until) return Promise.resolve(known.answer);
    running ??= runSecretCommand(command).then((answer) => {
      running = undefined;
      known = answer.kind === 'read' ? { answer, until: performance.now() + cacheMs } : undefined;
      return answer;
    });
    return running;
  };
}

/** A single line break at the end belongs to the file or the program, not to the secret. */
function checked(read: ReadSecret): ReadSecret {
  if (read.kind === 'problem') return read;
  const value = read.value.replace(/\r?\n$/, '');
  if (value.length < MIN_SECRET_CHARACTERS) return problem(`it has less than ${MIN_SECRET_CHARACTERS} characters`);
  if (/[\0\uFFFD]|\p{Cs}/u.test(value)) return problem('it is not text in UTF-8');
  return { kind: 'read', value };
}

function problem(text: string): ReadSecret {
  return { kind: 'problem', problem: text };
}

/** A call that is stopped does not wait any longer; the read continues for other calls that wait for it. */
async function unlessAborted(reading: ReadSecret | Promise<ReadSecret>, signal: StopSignal): Promise<ReadSecret> {
  if (!(reading instanceof Promise)) return reading;
  let onAbort!: () => void;
  const aborted = new Promise<ReadSecret>((resolve) => {
    onAbort = () => resolve(problem('the call was stopped'));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([reading, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
