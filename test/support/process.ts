import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { reapAfterExit } from './reaper.ts';
import { PATIENCE_MS, startProgram, type WatchedProcess } from './watched-process.ts';

/** Starts a JavaScript file with this Node. Node 20 does not run TypeScript files, so pass built files or .mjs files. */
export function spawnNode(
  script: string,
  args: readonly string[] = [],
  options: { env?: Readonly<Record<string, string | undefined>>; ipc?: boolean; cwd?: string } = {},
): Promise<WatchedProcess> {
  return startProgram(process.execPath, [script, ...args], options);
}

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** Creates a folder that is deleted by `remove`, or at the latest with this test process. */
export function temporaryFolder(label = 'sallyport-test'): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `${label}-`));
  const release = reapAfterExit({ folder: path });
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
      release();
    },
  };
}

// Below the range from which systems choose the local port of outgoing connections (Linux 32768+, macOS 49152+). In that
// range, a client could get the port of a server that is down for a restart, or could even connect to itself.
const LOWEST_PORT = 12_000;
const HIGHEST_PORT = 32_000;

/** A loopback port on which no process listens now. Another process may take it first, so callers that can should retry. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT));
    if (await canListen(port)) return port;
  }
  throw new Error(`No free loopback port between ${LOWEST_PORT} and ${HIGHEST_PORT} in 50 attempts`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

export interface EventuallyOptions {
  /** `PATIENCE_MS` by default. Shorter only where the limit itself is tested. */
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** Completes the sentence "Waited 120000 ms for …". */
  readonly what?: string;
}

type Truthy<T> = Exclude<T, undefined | null | false | 0 | ''>;

/**
 * Polls `check` until it returns a truthy value, and returns that value. The only place in the tests that polls.
 * A check that throws counts as "not yet"; on a timeout the message has the last answer or error.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = PATIENCE_MS, everyMs = 20, what = 'the condition' }: EventuallyOptions = {},
): Promise<Truthy<T>> {
  const startedAt = performance.now();
  let last = 'no answer yet';
  let cause: unknown;
  const giveUp = new AbortController();
  const timeIsUp = pause(timeoutMs, 'time is up' as const, { signal: giveUp.signal }).catch(
    () => 'time is up' as const,
  );
  try {
    for (;;) {
      const askedAt = performance.now();
      // Raced, because a check that hangs (a stopped server, for example) must not defeat the timeout.
      const asked = await Promise.race([ask(check), timeIsUp]);
      if (asked === 'time is up') break;
      if (asked.kind === 'threw') {
        cause = asked.error;
        last = `it threw ${inspect(asked.error)}`;
      } else {
        if (asked.value) return asked.value as Truthy<T>;
        cause = undefined;
        last = `it answered ${inspect(asked.value)}`;
      }
      // As long as the check itself took: one that starts a process must not keep a core busy.
      const pauseMs = Math.max(everyMs, performance.now() - askedAt);
      if (performance.now() - startedAt + pauseMs >= timeoutMs) break;
      await pause(pauseMs);
    }
  } finally {
    giveUp.abort();
  }
  throw new Error(`Waited ${timeoutMs} ms for ${what}; last time ${last}`, { cause });
}

async function ask<T>(
  check: () => T | Promise<T>,
): Promise<{ kind: 'answered'; value: T } | { kind: 'threw'; error: unknown }> {
  try {
    return { kind: 'answered', value: await check() };
  } catch (error) {
    return { kind: 'threw', error };
  }
}
