import { isAboutCall } from '../../../../src/domain/audit/audit-record.ts';
import type { Approval, DecideAnswer, Outcome } from '../../../../src/exports/client.ts';
import { canonicalJson } from '../../../../src/base/canonical-json.ts';
import { editOf, type Race, type SoakCall } from './soak-calls.ts';
import { APPROVERS, type ApproverName, type SoakPlane } from './soak-plane.ts';

const MAX_AUDITED = 100_000;

export interface SoakTally {
  allowed: number;
  edited: number;
  denied: number;
  expired: number;
  /** Calls that were allowed and whose worker was killed after the start mark: it is unknown whether they ran. */
  indeterminate: number;
}

export interface SoakVerdict {
  readonly wrong: readonly string[];
  readonly tally: SoakTally;
}

/** Describes in words what is wrong with how the calls ended. Empty if each call had one decision and ran accordingly. */
export async function judgeSoak(
  plane: SoakPlane,
  calls: readonly SoakCall[],
  races: readonly Race[],
): Promise<SoakVerdict> {
  const wrong: string[] = [];
  const tally: SoakTally = { allowed: 0, edited: 0, denied: 0, expired: 0, indeterminate: 0 };
  const raceOf = new Map(races.map((each) => [each.call.callId, each]));
  const ranBytes = groupBy(
    plane.ran(),
    ({ callId }) => callId,
    ({ bytes }) => bytes,
  );
  const events = groupBy(
    (await readAudit(plane)).filter(isAboutCall),
    ({ callId }) => callId,
    ({ event }) => event,
  );
  const approvals = new Map(
    (await plane.store.listApprovals({ limit: MAX_AUDITED })).map((each) => [each.question.callId as string, each]),
  );
  for (const call of calls) {
    const approval = approvals.get(call.callId);
    const outcome = await outcomeOf(plane, call);
    const facts = { call, approval, outcome, ran: ranBytes.get(call.callId) ?? [] };
    const problems = [
      ...problemsOfEvents(call, events.get(call.callId) ?? []),
      ...problemsOfRace(raceOf.get(call.callId), call, approval),
      ...problemsOfRun(facts, tally),
    ];
    wrong.push(...problems.map((problem) => `${call.key}: ${problem}`));
    ranBytes.delete(call.callId);
  }
  return { wrong, tally };
}

async function outcomeOf(plane: SoakPlane, { session, callId }: SoakCall): Promise<Outcome | undefined> {
  const answer = await plane.client.result(session, callId);
  return answer.kind === 'settled' ? answer.outcome : undefined;
}

const readAudit = (plane: SoakPlane) => plane.store.readAudit({ lane: 0, fromSequence: 1, limit: MAX_AUDITED });

/** Expects one question, one end of the question and one end of the call. */
function problemsOfEvents({ args }: SoakCall, events: readonly string[]): string[] {
  const expected =
    args.fate === 'expire'
      ? ['approval.requested', 'approval.expired', 'call.expired']
      : ['approval.requested', 'approval.decided', 'call.settled'];
  const told = events.filter((event) => expected.includes(event) || /^approval|settled|expired|cancelled/.test(event));
  return told.join() === expected.join() ? [] : [`the audit says ${events.join(', ')}`];
}

/** Expects that one of the two approvers has decided, and that the approval has that decision. */
function problemsOfRace(race: Race | undefined, { args, bytes }: SoakCall, approval: Approval | undefined): string[] {
  if (approval === undefined) return ['there is no approval'];
  const { question, state } = approval;
  const problems = question.arguments === bytes ? [] : [`the question shows ${question.arguments}`];
  if (args.fate === 'expire') {
    return state === 'expired' && race === undefined ? problems : [...problems, `the approval is ${state}`];
  }
  const winner = winnerOf(race);
  if (race === undefined || winner === undefined)
    return [...problems, `the answers are ${JSON.stringify(race?.answers)}`];
  const said = race.wishes[winner] === 'deny' ? 'denied' : 'allowed';
  const loser = race.answers[winner === 'anna' ? 'bert' : 'anna'] as Partial<{ state: string }>;
  const votes = approval.votes.map(({ by, decision }) => `${by.name} ${decision}`).join();
  const agrees = state === said && loser.state === said && votes === `${winner} ${race.wishes[winner]}`;
  return agrees ? problems : [...problems, `${winner} ${said}, the approval is ${state} by ${votes}`];
}

function winnerOf(race: Race | undefined): ApproverName | undefined {
  if (race === undefined) return undefined;
  const kinds = APPROVERS.map((name): DecideAnswer['kind'] => race.answers[name].kind);
  if (kinds.toSorted().join() !== 'already-decided,decided') return undefined;
  return APPROVERS[kinds.indexOf('decided')];
}

interface RunFacts {
  readonly call: SoakCall;
  readonly approval: Approval | undefined;
  readonly outcome: Outcome | undefined;
  readonly ran: readonly string[];
}

function problemsOfRun({ call, approval, outcome, ran }: RunFacts, tally: SoakTally): string[] {
  const ended = `${outcome?.kind} ${outcome?.error?.code ?? '-'} ${outcome?.executed}`;
  const told = `ended ${ended} and ran ${ran.length} times`;
  switch (approval?.state) {
    case 'denied':
      tally.denied += 1;
      return ended === 'denied APPROVAL_DENIED no' && ran.length === 0 ? [] : [`denied, ${told}`];
    case 'expired':
      tally.expired += 1;
      return outcome?.error?.code === 'APPROVAL_EXPIRED' && outcome.executed === 'no' && ran.length === 0
        ? []
        : [`expired, ${told}`];
    case 'allowed': {
      tally.allowed += 1;
      const approved = approvedBytes(call, approval);
      if (approved !== call.bytes) tally.edited += 1;
      if (ran.some((bytes) => bytes !== approved)) return [`approved as ${approved}, ran as ${ran.join()}`];
      if (outcome?.kind === 'indeterminate' && ran.length <= 1) {
        tally.indeterminate += 1;
        return [];
      }
      return ended === 'ok - yes' && ran.length === 1 ? [] : [`allowed, ${told}`];
    }
    case 'pending':
    case 'cancelled':
    case undefined:
      return [`the approval is ${approval?.state}, ${told}`];
  }
}

/** Computed here from what was sent and decided, not read from the data under test. */
function approvedBytes(call: SoakCall, { votes }: Approval): string {
  const edited = editOf(votes[0]?.by.name as ApproverName, call);
  return edited === undefined ? call.bytes : canonicalJson(edited);
}

function groupBy<Item, Value>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  valueOf: (item: Item) => Value,
): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [valueOf(item)]);
    else group.push(valueOf(item));
  }
  return groups;
}
