import type { Serializable } from 'node:child_process';
import { spawnNode } from '../../../support/process.ts';
import type { WatchedProcess } from '../../../support/watched-process.ts';

/** A process that may be killed at any moment. Orders that it has not answered are repeated to its successor. */
export interface SoakProcess {
  start(): Promise<void>;
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  ask<Answer>(order: Serializable): Promise<Answer>;
}

interface Asked {
  readonly order: Serializable;
  resolve(answer: never): void;
  reject(error: Error): void;
}

interface Reply {
  readonly id: number;
  readonly answer?: never;
  readonly problem?: string;
}

export function createSoakProcess(script: string, env: Readonly<Record<string, string | undefined>>): SoakProcess {
  const unanswered = new Map<number, Asked>();
  let last = 0;
  let child: WatchedProcess | undefined;

  function onReply({ id, answer, problem }: Reply): void {
    const asked = unanswered.get(id);
    unanswered.delete(id);
    if (problem === undefined) asked?.resolve(answer as never);
    else asked?.reject(new Error(problem));
  }

  return {
    async start() {
      const started = await spawnNode(script, [], { env, ipc: true });
      started.onMessage((message) => onReply(message as Reply));
      await started.waitForLine(/^ready/);
      child = started;
      for (const [id, { order }] of unanswered) child.send({ id, order });
    },
    async kill() {
      const dying = child;
      child = undefined;
      dying?.kill('SIGKILL');
      await dying?.exited;
    },
    ask: <Answer>(order: Serializable) =>
      new Promise<Answer>((resolve, reject) => {
        last += 1;
        unanswered.set(last, { order, resolve: resolve as Asked['resolve'], reject });
        child?.send({ id: last, order });
      }),
  };
}
