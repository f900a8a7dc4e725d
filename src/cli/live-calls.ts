import type { CallRecord } from '../domain/call/call.ts';
import { matchesCall, type CallFilter } from '../domain/call/call-filter.ts';
import type { WorkerId } from '../domain/identity/ids.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import { rowOfCall } from '../gateway/follow/call-rows.ts';
import type { CallHolders, CallList } from '../domain/ports/call-store.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';

export const LIVE_STATES = ['queued', 'running', 'parked'] as const;

/** A call that is not settled, with the worker that holds it. Its state is `running` whenever a worker holds it. */
export interface LiveCall extends CallRecord {
  readonly worker?: WorkerId;
}

export interface ShownCall extends Omit<LiveCall, 'outcome'> {
  readonly outcome?: Outcome;
}

export function toShownCall({ outcome, ...record }: LiveCall): ShownCall {
  return outcome === undefined ? record : { ...record, outcome: decodeOutcome(outcome) };
}

/**
 * Adds the worker that holds each call. In the store the first run of a `read` or `idempotent` tool is still `queued`, because only its
 * lease shows that it runs. Here its state becomes `running`.
 */
export async function withHolders(store: CallHolders, calls: readonly CallRecord[]): Promise<LiveCall[]> {
  const holders = await store.findHolders(calls.map(({ callId }) => callId));
  return calls.map((call, index) => {
    const worker = holders[index];
    return worker === undefined || call.state === 'settled' ? call : { ...call, state: 'running', worker };
  });
}

/** The limit when a filter is given. The store orders calls by deadline and has no other filter, so all calls are listed and filtered here. */
const ALL = 100_000;
const HOLDERS_AT_ONCE = 500;

export async function readLiveCalls(
  store: CallList & CallHolders,
  wanted: { readonly state: string; readonly filter: CallFilter; readonly limit: number },
): Promise<{ readonly calls: LiveCall[]; readonly isCut: boolean }> {
  const { state, filter, limit } = wanted;
  const isFiltered = state !== 'live' || Object.values(filter).some((value) => value !== undefined);
  const listed = await store.listCalls({ limit: isFiltered ? ALL : limit + 1 });
  const matching = listed.filter((call) => matchesCall(rowOfCall(call), filter));
  const calls: LiveCall[] = [];
  for (let at = 0; at < matching.length && calls.length <= limit; at += HOLDERS_AT_ONCE) {
    const held = await withHolders(store, matching.slice(at, at + HOLDERS_AT_ONCE));
    calls.push(...held.filter((call) => state === 'live' || call.state === state));
  }
  return { calls: calls.slice(0, limit), isCut: calls.length > limit };
}
