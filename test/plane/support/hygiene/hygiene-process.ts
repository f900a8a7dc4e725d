import type { Serializable } from 'node:child_process';
import { startProgram, type StartOptions, type WatchedProcess } from '../../../support/watched-process.ts';

/** What a process reports through its door; see `door.mjs`. */
export interface DoorAnswer {
  readonly heapUsed: number;
  readonly external: number;
  /** `process.getActiveResourcesInfo()` of the main thread. */
  readonly resources: readonly string[];
}

/** A process of the plane, by its role. After a restart the role has another process. */
export interface HygieneProcess {
  readonly role: string;
  readonly pid: number;
  /** The line, on either stream, with which the process reported that it is ready. */
  readonly ready: string;
  start(): Promise<void>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** A caller closes its client and must then end by itself; whatever keeps it alive is a leak. */
  leave(): Promise<void>;
  ask<Answer>(message: Record<string, Serializable>): Promise<Answer>;
}

const ASK_WITHIN_MS = 300_000;
const START_WITHIN_MS = 240_000;
const END_WITHIN_MS = 90_000;
const LEAVE_WITHIN_MS = 60_000;

export interface ProcessWish {
  readonly role: string;
  readonly args: readonly string[];
  readonly readyLine: RegExp;
  readonly options: StartOptions;
}

export function createProcess({ role, args, readyLine, options }: ProcessWish): HygieneProcess {
  let child: WatchedProcess | undefined;
  let ready = '';
  let lastId = 0;
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();

  function answered(message: unknown): void {
    const { id, ...rest } = message as { readonly id: number };
    waiting.get(id)?.resolve(rest);
    waiting.delete(id);
  }

  return {
    role,
    get pid() {
      return child?.pid ?? 0;
    },
    get ready() {
      return ready;
    },
    async start() {
      const started = await startProgram(process.execPath, args, { ...options, ipc: true });
      started.onMessage(answered);
      child = started;
      void started.exited.then(() => {
        for (const each of waiting.values()) each.reject(new Error(`${role} ended`));
        waiting.clear();
      });
      try {
        ready = await started.waitForLine(readyLine, START_WITHIN_MS);
      } catch (error) {
        const { resources } = await this.ask<DoorAnswer>({ ask: 'look' }).catch(() => ({
          resources: ['its door does not answer'],
        }));
        throw new Error(`${role} is not ready; awake for ${resources.join(', ')}`, { cause: error });
      }
    },
    async end(signal) {
      const dying = child;
      child = undefined;
      if (dying === undefined) return;
      dying.kill(signal);
      const timer = setTimeout(() => dying.kill('SIGKILL'), END_WITHIN_MS);
      const { code, signal: by } = await dying.exited;
      clearTimeout(timer);
      if (signal === 'SIGTERM' && by === 'SIGKILL')
        throw new Error(`${role} did not end within ${END_WITHIN_MS} ms: ${dying.stderr.slice(-2000)}`);
      if (signal === 'SIGTERM' && code !== 0)
        throw new Error(`${role} ended with ${code ?? by}: ${dying.stderr.slice(-2000)}`);
    },
    async leave() {
      const leaving = child;
      child = undefined;
      if (leaving === undefined) return;
      leaving.send({ id: 0, order: { kind: 'close' } });
      const timer = setTimeout(() => leaving.kill('SIGKILL'), LEAVE_WITHIN_MS);
      const { signal } = await leaving.exited;
      clearTimeout(timer);
      if (signal === 'SIGKILL')
        throw new Error(`${role} closed its client and did not end within ${LEAVE_WITHIN_MS} ms`);
    },
    ask: <Answer>(message: Record<string, Serializable>) =>
      new Promise<Answer>((resolve, reject) => {
        const id = (lastId += 1);
        const timer = setTimeout(() => reject(new Error(`${role} did not answer`)), ASK_WITHIN_MS);
        const over = (act: () => void): void => {
          clearTimeout(timer);
          waiting.delete(id);
          act();
        };
        waiting.set(id, {
          resolve: (answer) => over(() => resolve(answer as Answer)),
          reject: (error) => over(() => reject(error)),
        });
        if (child === undefined) waiting.get(id)!.reject(new Error(`${role} does not run`));
        else child.send({ id, ...message });
      }),
  };
}
