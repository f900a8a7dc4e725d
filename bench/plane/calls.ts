import { setTimeout as pause } from 'node:timers/promises';
import type { CallAnswer } from 'sallyport/client';
import { makeRequest } from '../round-trip/variant.ts';
import type { BenchPlane } from './open-plane.ts';

const LONG_MS = 30 * 60_000;
const POLL_MS = 5;
let made = 0;

/** Sends `count` calls at once and does not wait for them. A parked call is answered when an approver has decided. */
export function sendCalls({ client, sessions }: BenchPlane, tool: string, count: number): Promise<CallAnswer>[] {
  return Array.from({ length: count }, () => {
    made += 1;
    const { id, text } = makeRequest(made);
    const session = sessions[made % sessions.length]!;
    return client.call(session, tool, { id, text }, { waitMs: LONG_MS, deadlineMs: LONG_MS });
  });
}

export async function untilOk(calls: readonly Promise<CallAnswer>[]): Promise<void> {
  for (const answer of await Promise.all(calls)) {
    if (answer.kind !== 'settled' || answer.outcome.kind !== 'ok')
      throw new Error(`a call ended as ${JSON.stringify(answer)}`);
  }
}

export async function untilAccepted(plane: BenchPlane, acceptedBefore: number, count: number): Promise<void> {
  while (plane.accepted() - acceptedBefore < count) await pause(POLL_MS);
}

/** Waits until all calls are parked. Throws if a call ends instead, because that call would never be parked. */
export async function untilParked(
  plane: BenchPlane,
  parkedBefore: number,
  calls: readonly Promise<CallAnswer>[],
): Promise<void> {
  let ended: CallAnswer | undefined;
  // Errors of calls that are still parked when the plane is closed are ignored.
  for (const call of calls)
    call.then(
      (answer) => (ended ??= answer),
      () => undefined,
    );
  while ((await plane.parked()) - parkedBefore < calls.length) {
    if (ended !== undefined) throw new Error(`a call was not parked: ${JSON.stringify(ended)}`);
    await pause(POLL_MS);
  }
}
