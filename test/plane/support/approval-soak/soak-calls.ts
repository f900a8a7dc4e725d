import { inspect } from 'node:util';
import type { ApprovalDecision } from '../../../../src/domain/policy/approval.ts';
import type { CallId } from '../../../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { Approval, CallAnswer, DecideAnswer, SessionHandle } from '../../../../src/exports/client.ts';
import { canonicalJson } from '../../../../src/base/canonical-json.ts';
import { callIdFor } from '../../../../src/domain/identity/new-id.ts';
import { eventually } from '../../../support/process.ts';
import { APPROVERS, type ApproverName, type SoakPlane } from './soak-plane.ts';

export interface SoakCall {
  readonly number: number;
  readonly session: SessionHandle;
  readonly key: string;
  readonly callId: string;
  readonly args: JsonObject & { readonly fate: 'decide' | 'expire' };
  /** The arguments that the question has to show, and that run unless an approver edits them. */
  readonly bytes: string;
}

/** Denials are counted per run. With eight calls per run, nothing looks like a loop. */
const CALLS_PER_RUN = 8;
const EVERY_EXPIRING = 10;
const EVERY_EDITED = 7;
const MAX_LISTED = 10_000;

/** Each call has arguments of its own, so that a swap of two calls is noticed. */
export async function planCalls(plane: SoakPlane, name: string, count: number): Promise<SoakCall[]> {
  const runs = Math.ceil(count / CALLS_PER_RUN);
  const sessions = await Promise.all(
    Array.from({ length: runs }, (_, run) =>
      plane.client.openSession({ subject: `${name}-${run % 5}`, agent: 'main' }),
    ),
  );
  return Array.from({ length: count }, (_, number) => {
    const session = sessions[Math.floor(number / CALLS_PER_RUN)]!;
    const key = `${name}-${number}`;
    const fate = number % EVERY_EXPIRING === EVERY_EXPIRING - 1 ? 'expire' : 'decide';
    const args = { text: `ünder ${key} ${'x'.repeat(number % 100)}`, number, fate, file: plane.file } as const;
    return { number, session, key, callId: callIdFor(session.id, key)!, args, bytes: canonicalJson(args) };
  });
}

export function sendCalls(plane: SoakPlane, calls: readonly SoakCall[]): Promise<CallAnswer[]> {
  const orders = calls.map(({ session, args, key }) => ({
    kind: 'call',
    session,
    tool: 'soak.write',
    args,
    key,
    waitMs: 1,
  }));
  return Promise.all(orders.map((order) => plane.caller.ask<CallAnswer>(order)));
}

export const toDecide = (calls: readonly SoakCall[]): SoakCall[] => calls.filter(({ args }) => args.fate === 'decide');

/** Resolves with the approvals by call id, once all of these calls are parked. */
export async function untilParked(plane: SoakPlane, calls: readonly SoakCall[]): Promise<Map<string, Approval>> {
  const wanted = new Set(toDecide(calls).map(({ callId }) => callId));
  return eventually(
    async () => {
      const pending = await plane.store.listApprovals({ state: 'pending', limit: MAX_LISTED });
      const found = pending.filter(({ question }) => wanted.has(question.callId));
      if (found.length < wanted.size) {
        const there = new Set(found.map(({ question }) => question.callId as string));
        throw new Error(
          `not yet: ${await describe(
            plane,
            [...wanted].filter((callId) => !there.has(callId)),
          )}`,
        );
      }
      return new Map(found.map((each) => [each.question.callId as string, each]));
    },
    { timeoutMs: 120_000, everyMs: 100, what: `${wanted.size} parked calls` },
  );
}

/** The records of the first of these calls, for the error message of a soak that gets stuck. */
async function describe(plane: SoakPlane, callIds: readonly string[]): Promise<string> {
  const records = await Promise.all(callIds.slice(0, 5).map((callId) => plane.store.readCall(callId as CallId)));
  const shown = records.map((record, index) => `${callIds[index]} ${inspect(record, { breakLength: Infinity })}`);
  return `${callIds.length} calls, such as\n${shown.join('\n')}\nqueues ${inspect(await plane.store.queueState())}`;
}

/** Decisions that the store confirmed to an approver and that are pending again: the store lost what it had answered. */
export async function lostDecisions(plane: SoakPlane, races: readonly Race[]): Promise<string[]> {
  const pending = await plane.store.listApprovals({ state: 'pending', limit: MAX_LISTED });
  const open = new Set(pending.map(({ question }) => question.id));
  const lost = races.filter(({ approval }) => open.has(approval.question.id));
  return lost.map(({ call, answers }) => `${call.key}: pending again after ${JSON.stringify(answers)}`);
}

/** Waits until no call is queued, held or parked. */
export async function untilAllEnded(plane: SoakPlane): Promise<void> {
  await eventually(
    async () => {
      const left = await plane.store.listCalls({ limit: MAX_LISTED });
      if (left.length > 0)
        throw new Error(
          `not yet: ${await describe(
            plane,
            left.map(({ callId }) => callId),
          )}`,
        );
      return true;
    },
    { timeoutMs: 120_000, everyMs: 100, what: 'every call to end' },
  );
}

export interface Race {
  readonly call: SoakCall;
  readonly approval: Approval;
  readonly wishes: Readonly<Record<ApproverName, ApprovalDecision>>;
  readonly answers: Readonly<Record<ApproverName, DecideAnswer>>;
}

/** The decision of an approver; the two approvers never agree. */
function wishOf(name: ApproverName, { number }: SoakCall): ApprovalDecision {
  return (name === 'anna') === (number % 2 === 0) ? 'allow-once' : 'deny';
}

/** The edited arguments with which an approver allows some calls; undefined if unedited. */
export function editOf(name: ApproverName, { number, args }: SoakCall): JsonObject | undefined {
  return number % EVERY_EDITED === 0 ? { ...args, edited: name } : undefined;
}

/** Lets both approvers decide at the same moment, each in a separate process. */
export async function race(plane: SoakPlane, call: SoakCall, approval: Approval): Promise<Race> {
  const { id, binding } = approval.question;
  const decide = (name: ApproverName): Promise<DecideAnswer> => {
    const wish = wishOf(name, call);
    const edited = wish === 'deny' ? undefined : editOf(name, call);
    const decision = { decision: wish, binding, ...(edited === undefined ? {} : { arguments: edited }) };
    return plane.approvers[name].ask({ kind: 'decide', approver: { kind: 'operator', name }, approval: id, decision });
  };
  const [anna, bert] = await Promise.all(APPROVERS.map(decide));
  return {
    call,
    approval,
    wishes: { anna: wishOf('anna', call), bert: wishOf('bert', call) },
    answers: { anna: anna!, bert: bert! },
  };
}
