import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface Load {
  /** What each call was asked to write. */
  readonly sent: readonly string[];
  /** Resolves when a third of the calls has ended, so that the others are running or still to be made. */
  readonly under: Promise<void>;
  /** Resolves when every call has ended with `ok`; rejects when one ended otherwise. */
  readonly ended: Promise<void>;
}

const CALLERS = 8;
const TRY_AGAIN_MS = 100;
const GIVE_UP_MS = 60_000;

/** Calls an unsafe tool over HTTP. Each call has its own key and is sent again with that key until it is answered. */
export function startLoad(gateway: string, tokenFile: string, count: number, name: string): Load {
  const token = readFileSync(tokenFile, 'utf8').trim();
  const sent = Array.from({ length: count }, (_, index) => `${name} ${index}`);
  const waiting = [...sent];
  let done = 0;
  let isUnder!: () => void;
  const under = new Promise<void>((resolve) => (isUnder = resolve));

  async function ask(line: string): Promise<{ readonly state: string; readonly outcome?: { readonly kind: string } }> {
    const answer = await fetch(`${gateway}/v1/calls`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': line.replace(' ', '-'),
      },
      body: JSON.stringify({ tool: 'ledger.add', arguments: { line }, waitMs: 5000 }),
    });
    if (answer.status >= 500 || answer.status === 429) throw new Error(`answered with ${answer.status}`);
    return (await answer.json()) as Awaited<ReturnType<typeof ask>>;
  }

  async function call(line: string): Promise<void> {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    for (let last = ''; performance.now() < giveUpAt; await pause(TRY_AGAIN_MS)) {
      try {
        const { state, outcome } = await ask(line);
        if (outcome?.kind === 'ok') return;
        last = JSON.stringify({ state, outcome });
        if (state === 'settled') throw new EndedOtherwise(`${line}: ${last}`);
      } catch (error) {
        // The gateway is being restarted, or its store is away: the same key is sent again.
        if (error instanceof EndedOtherwise) throw error;
      }
    }
    throw new Error(`${line} was not answered`);
  }

  const caller = async (): Promise<void> => {
    for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
      await call(line);
      done += 1;
      if (done * 3 >= count) isUnder();
    }
  };
  const ended = Promise.all(Array.from({ length: CALLERS }, caller)).then(() => undefined);
  ended.catch(() => isUnder());
  return { sent, under, ended };
}

class EndedOtherwise extends Error {}
