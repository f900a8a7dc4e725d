import type { CallRecord } from '../domain/call.ts';
import type { Outcome } from '../domain/outcome.ts';
import { whyUnattended } from '../domain/unattended.ts';
import { decodeOutcome } from '../wire/outcome.ts';
import { showDuration } from './duration.ts';
import type { Terminal } from './terminal.ts';

export interface ShownCall extends Omit<CallRecord, 'outcome'> {
  readonly outcome?: Outcome;
}

export function toShownCall({ outcome, ...record }: CallRecord): ShownCall {
  return outcome === undefined ? record : { ...record, outcome: decodeOutcome(outcome) };
}

function describeUnattended({ identity, run }: ShownCall): string | undefined {
  return whyUnattended({}, identity, run);
}

/** Everything an operator wants to know about one call, a fact per line. */
export function showCall(terminal: Terminal, call: ShownCall, now: number): void {
  const { identity, outcome } = call;
  const at = (time: number): string => {
    const ago = now - time;
    return `${new Date(time).toISOString()} (${ago >= 0 ? `${showDuration(ago)} ago` : `in ${showDuration(-ago)}`})`;
  };
  const place = [identity.platform, identity.space, identity.channel].filter((part) => part !== undefined);
  const facts: [string, string | undefined][] = [
    ['call', call.callId],
    ['tool', call.tool],
    ['state', call.cancelRequested && call.state !== 'settled' ? `${call.state}, to be cancelled` : call.state],
    ['subject', `${identity.subject} (tenant ${identity.tenant})`],
    ['agent', identity.agent],
    ['from', place.length === 0 ? undefined : place.join(' / ')],
    ['session', call.session],
    ['unattended', describeUnattended(call)],
    ['pool', call.pool],
    ['accepted', at(call.acceptedAt)],
    ['deadline', at(call.deadline)],
    ['settled', call.settledAt === undefined ? undefined : at(call.settledAt)],
    ['took', call.settledAt === undefined ? undefined : showDuration(call.settledAt - call.acceptedAt)],
    ['starts', `${call.starts} written down${call.effect === undefined ? '' : ` (${call.effect})`}`],
    ['waiters', String(call.waiters)],
    ['outcome', outcome === undefined ? undefined : `${outcome.kind}, executed: ${outcome.executed}`],
    ['resolved', call.resolution],
    ['approval', call.approval],
    ['grant', call.grant],
    ['error', outcome?.error === undefined ? undefined : `${outcome.error.code}: ${outcome.error.message}`],
    ['fix', outcome?.error?.fix?.replace('<id>', call.callId)],
  ];
  terminal.printTable(
    undefined,
    facts.flatMap(([name, value]) => (value === undefined ? [] : [[{ text: name, style: 'dim' as const }, value]])),
  );
}
