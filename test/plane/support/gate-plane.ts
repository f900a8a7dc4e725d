import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Approval, ApprovalDecision, Principal } from '../../../src/domain/policy/approval.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Policy } from '../../../src/domain/policy/policy.ts';
import type { Rule } from '../../../src/domain/policy/rule.ts';
import type { CallOptions, Client, Outcome, SessionHandle } from '../../../src/exports/client.ts';
import type { AuditEntry } from '../../../src/domain/ports/audit-store.ts';
import type { AuditEvent } from '../../../src/domain/audit/audit-record.ts';
import { callIdFor, randomId } from '../../../src/domain/identity/new-id.ts';
import { decodeAll } from '../../../src/base/message-pack.ts';
import { eventually } from '../../support/process.ts';
import { OPEN_POLICY, outcomeOf, type StagedPlane } from './stage-plane.ts';
import { audit } from './watch-plane.ts';

export const GATE_MODULES = fileURLToPath(new URL('../../fixtures/gate-plane/modules', import.meta.url));
export const GATE_HOOKS = fileURLToPath(new URL('../../fixtures/gate-plane/hooks.mjs', import.meta.url));
export const OPERATOR: Principal = { kind: 'operator', name: 'root' };

export function policyWith(rules: readonly Rule[], more: Partial<Policy> = {}): Policy {
  return { ...OPEN_POLICY, rules, ...more };
}

/** The arguments of a letter. Its tool writes the arguments that it got to a file. */
export function letter(plane: StagedPlane, text: string, more: JsonObject = {}): JsonObject {
  return { file: plane.effectFile, text, ...more };
}

interface SentLetter {
  readonly text: string;
  readonly to?: string;
  readonly callId: string;
}

/** The letters that ran: the arguments as the tool got them. */
export function sentLetters(plane: StagedPlane, text?: string): SentLetter[] {
  const sent = plane.effects().map((line) => JSON.parse(line) as SentLetter);
  return text === undefined ? sent : sent.filter((each) => each.text === text);
}

interface ToldLetter {
  readonly callId: string;
  readonly ran: { readonly text: string; readonly to?: string };
  readonly changedBy: readonly string[];
  readonly kind: string;
}

/** What the after_tool_call hook was given. */
export function toldLetters(plane: StagedPlane, callId?: string): ToldLetter[] {
  let text = '';
  try {
    text = readFileSync(`${plane.effectFile}.after`, 'utf8');
  } catch {
    return [];
  }
  const told = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ToldLetter);
  return callId === undefined ? told : told.filter((each) => each.callId === callId);
}

export interface ParkedCall {
  readonly callId: string;
  readonly approval: Approval;
  /** Resolves with the outcome whenever the call ends. */
  readonly outcome: Promise<Outcome>;
}

/** Makes a call; resolves when an approval is pending for it. */
export async function park(
  plane: StagedPlane,
  session: SessionHandle,
  tool: string,
  args: JsonObject,
  options: Pick<CallOptions, 'signal' | 'input'> = {},
): Promise<ParkedCall> {
  const key = randomId();
  const callId = callIdFor(session.id, key)!;
  const calling = plane.client.call(session, tool, args, { key, waitMs: 60_000, deadlineMs: 120_000, ...options });
  const outcome = calling.then((answer) => outcomeOf(plane, session, answer));
  outcome.catch(() => undefined);
  return { callId, approval: await untilAsked(plane, callId), outcome };
}

/** Resolves with a pending question about this call that is not one of `known`. */
export function untilAsked(plane: StagedPlane, callId: string, known: readonly string[] = []): Promise<Approval> {
  return eventually(
    async () => {
      const pending = await plane.store.listApprovals({ state: 'pending', limit: 1000 });
      return pending.find(({ question }) => question.callId === callId && !known.includes(question.id));
    },
    { what: `a question about ${callId}` },
  );
}

export async function decide(
  { client }: { readonly client: Client },
  { question }: Approval,
  decision: ApprovalDecision,
  more: {
    readonly comment?: string;
    readonly arguments?: JsonObject;
    readonly grant?: { readonly uses?: number };
  } = {},
) {
  const answer = await client.approvals.decide(OPERATOR, question.id, { decision, binding: question.binding, ...more });
  expect(answer.kind).toBe('decided');
  return answer as { readonly kind: 'decided'; readonly grant?: string };
}

/** The audit records of one call, with the worker's detail decoded. */
export async function recordsOf(
  plane: StagedPlane,
  callId: string,
): Promise<(Omit<AuditEntry, 'detail'> & { readonly detail: Record<string, unknown> })[]> {
  const entries = (await audit(plane)).filter((entry) => entry.callId === callId);
  return entries.map((entry) => ({
    ...entry,
    detail: Object.assign({}, ...decodeAll(entry.detail)) as Record<string, unknown>,
  }));
}

export async function recordOf(plane: StagedPlane, callId: string, event: AuditEvent) {
  const found = (await recordsOf(plane, callId)).filter((entry) => entry.event === event);
  expect(found, `${event} of ${callId}`).toHaveLength(1);
  return found[0]!;
}
