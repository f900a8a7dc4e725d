import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ownChild } from './left-behind.ts';
import type { CommonOrder } from './serve-orders.ts';

/** A separate process that carries out orders, one after the other. */
export interface Side<Order> {
  readonly pid: number;
  order(order: Order | CommonOrder): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Flags for all processes of a bench. With the small default space for young objects, the garbage collector would run often, and its
 * helper threads, which compete with everything else on the machine, would decide the figures.
 */
export const SIDE_FLAGS = ['--max-semi-space-size=64', '--no-allocation-site-pretenuring'] as const;

export interface SideOptions {
  readonly file: string;
  readonly args?: readonly string[];
  /** The name of the process in error messages. */
  readonly name: string;
  readonly flags?: readonly string[];
  /** Path of another Node.js than the one that runs this process. */
  readonly node?: string;
}

export function startSide<Order extends { readonly kind: string }>({
  file,
  args = [],
  name,
  flags = [],
  node = process.execPath,
}: SideOptions): Side<Order> {
  const child = fork(file, args, { execPath: node, execArgv: [...SIDE_FLAGS, ...flags] });
  ownChild(child);
  const order = (what: Order | CommonOrder): Promise<unknown> => ask(child, name, what);
  return {
    pid: child.pid!,
    order,
    async close() {
      const gone = once(child, 'exit');
      await order({ kind: 'close' });
      await gone;
    },
  };
}

async function ask(child: ChildProcess, who: string, order: { readonly kind: string }): Promise<unknown> {
  const settled = new AbortController();
  try {
    const answered = once(child, 'message', { signal: settled.signal });
    const ended = once(child, 'exit', { signal: settled.signal }).then(() => {
      throw new Error(`${who} ended while it was asked to ${order.kind}`);
    });
    child.send(order);
    const [reply] = (await Promise.race([answered, ended])) as [{ answer?: unknown; problem?: string }];
    if (reply.problem !== undefined) throw new Error(`${who}: ${reply.problem}`);
    return reply.answer;
  } finally {
    settled.abort();
  }
}
