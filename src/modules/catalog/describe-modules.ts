import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { planeError } from '../../domain/errors/errors.ts';
import type { DescribeAnswer, DescribeRequest } from './describe-protocol.ts';

export type Description =
  | { readonly kind: 'described'; readonly json: string }
  | { readonly kind: 'broken'; readonly id?: string; readonly reason: string };

export interface Describer {
  /** Describes one module at a time, so that it is clear which module crashed the process. */
  describe(request: Omit<DescribeRequest, 'ticket'>): Promise<Description>;
  close(): Promise<void>;
}

const START_TIMEOUT_MS = 20_000;
const MAX_HEAP_MB = 1024;

/** Imports modules in a child process, which serves many of them and is replaced after a crash or a hang. */
export function createDescriber({ importTimeoutMs }: { readonly importTimeoutMs: number }): Describer {
  let child: Promise<DescribeChild> | undefined;
  let tickets = 0;

  async function tryOnce(request: DescribeRequest): Promise<Attempt> {
    child ??= startChild();
    const running = await child;
    const attempt = await running.ask(request, importTimeoutMs);
    if (attempt.kind === 'lost') {
      child = undefined;
      await running.end();
    }
    return attempt;
  }

  return {
    async describe(request) {
      const inUse = child !== undefined;
      tickets += 1;
      let attempt = await tryOnce({ ...request, ticket: tickets });
      // A timer or promise that an earlier module left in this process may have ended it, so the request is repeated in a new process.
      if (attempt.kind === 'lost' && inUse && (attempt.how !== 'hung' || !attempt.importing)) {
        tickets += 1;
        attempt = await tryOnce({ ...request, ticket: tickets });
      }
      if (attempt.kind !== 'lost') return attempt;
      const reason =
        attempt.how === 'hung'
          ? `Its import did not end within ${importTimeoutMs} ms.`
          : `Its import ended the process (${attempt.how}).`;
      return { kind: 'broken', reason };
    },
    async close() {
      const last = child;
      child = undefined;
      await (await last?.catch(() => undefined))?.end();
    },
  };
}

type Attempt = Description | { readonly kind: 'lost'; readonly how: string; readonly importing: boolean };

interface DescribeChild {
  ask(request: DescribeRequest, timeoutMs: number): Promise<Attempt>;
  end(): Promise<void>;
}

async function startChild(): Promise<DescribeChild> {
  const process = fork(childFile(), [], {
    // During import, module code has no access to the worker's secrets, flags or output.
    env: {},
    execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const exited = new Promise<string>((resolve) => {
    process.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
    process.once('error', (error) => resolve(error.message));
  });
  const end = async (): Promise<void> => {
    process.kill('SIGKILL');
    await exited;
  };
  const started = await firstOf(process, exited, START_TIMEOUT_MS, (answer) =>
    answer.kind === 'ready' ? answer : undefined,
  );
  if (started.kind === 'lost') {
    await end();
    throw planeError('INTERNAL', { problem: `the process that describes modules did not start (${started.how})` });
  }
  return { end, ask: (request, timeoutMs) => ask(process, exited, request, timeoutMs) };
}

async function ask(
  process: ChildProcess,
  exited: Promise<string>,
  request: DescribeRequest,
  timeoutMs: number,
): Promise<Attempt> {
  let importing = false;
  const answered = firstOf(process, exited, timeoutMs, (answer) => {
    if (answer.kind === 'ready' || answer.ticket !== request.ticket) return undefined;
    if (answer.kind !== 'importing') return answer;
    importing = true;
    return undefined;
  });
  // Errors of `send` are ignored: if the channel is already closed, the exit of the process reports it.
  process.send(request, () => {});
  const answer = await answered;
  return answer.kind === 'lost' ? { ...answer, importing } : answer;
}

type Lost = { readonly kind: 'lost'; readonly how: string };

/** The first message that `pick` accepts, or how the process was lost: its exit, or `hung` on a timeout. */
function firstOf<Picked extends { kind: string }>(
  process: ChildProcess,
  exited: Promise<string>,
  timeoutMs: number,
  pick: (answer: DescribeAnswer) => Picked | undefined,
): Promise<Picked | Lost> {
  return new Promise((resolve) => {
    const finish = (result: Picked | Lost): void => {
      clearTimeout(timer);
      process.off('message', look);
      resolve(result);
    };
    const look = (message: unknown): void => {
      const picked = isAnswer(message) ? pick(message) : undefined;
      if (picked !== undefined) finish(picked);
    };
    const timer = setTimeout(() => finish({ kind: 'lost', how: 'hung' }), timeoutMs);
    process.on('message', look);
    void exited.then((how) => finish({ kind: 'lost', how }));
  });
}

/** Checks the form of a message, because the module's own code can send messages too. */
function isAnswer(message: unknown): message is DescribeAnswer {
  if (typeof message !== 'object' || message === null) return false;
  const { kind, ticket, json, reason, id } = message as Record<string, unknown>;
  if (kind === 'ready') return true;
  if (typeof ticket !== 'number') return false;
  if (kind === 'described') return typeof json === 'string';
  if (kind === 'broken') return typeof reason === 'string' && (id === undefined || typeof id === 'string');
  return kind === 'importing';
}

/** The program of the child process: next to this file when compiled; in `dist` when the sources themselves are run, as the tests do. */
function childFile(): string {
  const place = import.meta.url.endsWith('.ts')
    ? '../../../dist/modules/catalog/describe-child.js'
    : './describe-child.js';
  const file = fileURLToPath(new URL(place, import.meta.url));
  if (!existsSync(file))
    throw planeError('INTERNAL', { problem: `${file} is missing; build the package first: npm run build` });
  return file;
}
