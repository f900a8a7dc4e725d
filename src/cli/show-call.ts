import { whyUnattended } from '../domain/identity/unattended.ts';
import type { CallDetail } from '../gateway/api/call-schema.ts';
import { showDuration } from './duration.ts';
import type { ShownCall } from './live-calls.ts';
import type { CallFacts } from './read-call-facts.ts';
import { asTyped } from './own-command.ts';
import { showResult } from './show-outcome.ts';
import type { Terminal } from './terminal.ts';

/** The JSON of a call. The field `missing` says why a part is absent. */
export function toCallJson(facts: CallFacts): unknown {
  const { arguments: args, noResult } = facts;
  const missing = {
    ...('missing' in args ? { arguments: args.missing } : {}),
    ...(noResult === undefined ? {} : { result: noResult }),
  };
  return {
    ...('call' in facts ? facts.call : facts.forgotten),
    ...('value' in args ? { arguments: args.value } : { arguments: undefined }),
    ...facts.durations,
    ...(facts.turn === undefined ? {} : { turn: facts.turn }),
    ...(Object.keys(missing).length === 0 ? {} : { missing }),
  };
}

/** Prints everything an operator wants to know about one call: one fact per line, then its arguments, then its result. */
export function showCall(terminal: Terminal, facts: CallFacts, now: number): void {
  const at = (time: number): string => {
    const ago = now - time;
    return `${new Date(time).toISOString()} (${ago >= 0 ? `${showDuration(ago)} ago` : `in ${showDuration(-ago)}`})`;
  };
  const lines = 'call' in facts ? factsOf(facts.call, facts, at) : forgottenFactsOf(facts.forgotten, facts, at);
  terminal.printTable(
    undefined,
    lines.flatMap(([name, value]) => (value === undefined ? [] : [[{ text: name, style: 'dim' as const }, value]])),
  );
  const { arguments: args, noResult } = facts;
  if ('value' in args) {
    terminal.print('Arguments, secrets masked:', 'bold');
    terminal.print(args.value);
  } else terminal.print(`Arguments: ${args.missing}.`);
  if (noResult !== undefined) terminal.print(`Result: ${noResult}.`);
  else if ('call' in facts && facts.call.outcome !== undefined) {
    terminal.print('Result:', 'bold');
    if (!showResult(terminal, facts.call.outcome)) terminal.print('nothing');
  }
}

type Fact = [name: string, value: string | undefined];
type At = (time: number) => string;
type Measured = Pick<CallFacts, 'turn' | 'durations'>;

function durationFacts({ totalMs, ranMs }: CallFacts['durations']): Fact[] {
  return [
    ['accepted → settled', totalMs === undefined ? undefined : showDuration(totalMs)],
    ['ran for', ranMs === undefined ? undefined : showDuration(ranMs)],
  ];
}

function describeUnattended({ identity, run }: ShownCall): string | undefined {
  return whyUnattended({}, identity, run);
}

function factsOf(call: ShownCall, { turn, durations }: Measured, at: At): Fact[] {
  const { identity, outcome } = call;
  const place = [identity.platform, identity.space, identity.channel].filter((part) => part !== undefined);
  return [
    ['call', call.callId],
    ['tool', call.tool],
    ['state', call.cancelRequested && call.state !== 'settled' ? `${call.state}, to be cancelled` : call.state],
    ['turn', turn],
    ['subject', `${identity.subject} (tenant ${identity.tenant})`],
    ['agent', identity.agent],
    ['from', place.length === 0 ? undefined : place.join(' / ')],
    ['session', call.session],
    ['unattended', describeUnattended(call)],
    ['pool', call.pool],
    ['worker', call.worker],
    ['accepted', at(call.acceptedAt)],
    ['deadline', call.settledAt === undefined ? at(call.deadline) : new Date(call.deadline).toISOString()],
    ['settled', call.settledAt === undefined ? undefined : at(call.settledAt)],
    ...durationFacts(durations),
    ['starts', `${call.starts} written down${call.effect === undefined ? '' : ` (${call.effect})`}`],
    // Callers that went away stay registered until the call is settled.
    ['waiters', call.settledAt === undefined ? `${call.waiters} registered` : undefined],
    ['outcome', outcome === undefined ? undefined : `${outcome.kind}, executed: ${outcome.executed}`],
    ['resolved', call.resolution],
    ['approval', call.approval],
    ['grant', call.grant],
    ['error', outcome?.error === undefined ? undefined : `${outcome.error.code}: ${outcome.error.message}`],
    ['advice', outcome?.advice],
    ['fix', outcome?.error?.fix === undefined ? undefined : asTyped(outcome.error.fix.replace('<id>', call.callId))],
  ];
}

/** The facts that the audit has about a call that the store no longer keeps. */
function forgottenFactsOf(call: CallDetail['call'], { durations }: Measured, at: At): Fact[] {
  const { identity, outcome } = call;
  return [
    ['call', call.callId],
    ['tool', call.tool],
    ['state', call.state],
    ['subject', `${identity.subject} (tenant ${identity.tenant})`],
    ['agent', identity.agent],
    ['session', call.session],
    ['settled', call.settledAt === undefined ? undefined : at(call.settledAt)],
    ...durationFacts(durations),
    ['outcome', outcome === undefined ? undefined : `${outcome}, executed: ${call.executed ?? 'unknown'}`],
    ['approval', call.approval],
    ['grant', call.grant],
    ['error', call.code],
  ];
}
