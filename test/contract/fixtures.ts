import { agentsOf } from '../../src/domain/identity/agent.ts';
import { subjectShares } from '../../src/domain/call/subject-share.ts';
import type { Actor } from '../../src/domain/identity/actor.ts';
import { expect } from 'vitest';
import { ENVELOPE_VERSION } from '../../src/domain/call/call.ts';
import {
  laneOfScopedId,
  toolId,
  type CallId,
  type RunId,
  type SessionId,
  type ToolId,
  type WorkerId,
} from '../../src/domain/identity/ids.ts';
import type { ApprovalDecision, ApprovalQuestion, NewGrant, Principal } from '../../src/domain/policy/approval.ts';
import type { OutcomeKind } from '../../src/domain/outcome/outcome.ts';
import type { Identity } from '../../src/domain/identity/session.ts';
import type {
  AcceptRequest,
  AdmissionLimits,
  CancelRequest,
  Delivery,
  OwnedCall,
  ReapRequest,
  SettleRequest,
  StartRequest,
  Waiter,
} from '../../src/domain/ports/call-requests.ts';
import type { AskRequest, DecideRequest } from '../../src/domain/ports/approval-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { bodyDigest } from '../../src/domain/tool/digest.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { encodeEnvelope } from '../../src/domain/call/envelope.ts';
import {
  callIdFor,
  newApprovalId,
  newCallerId,
  newGrantId,
  newRunId,
  newSessionId,
  newToken,
  newWorkerId,
  randomId,
} from '../../src/domain/identity/new-id.ts';
import { encodeOutcome } from '../../src/domain/outcome/outcome-bytes.ts';

export const POOL = 'main';
export const TOOL: ToolId = toolId('files', 'write');
export const HOUR_MS = 3_600_000;

export const ROOMY: AdmissionLimits = {
  liveCalls: 10_000,
  liveBytes: 256 * 1024 * 1024,
  retainedBytes: 256 * 1024 * 1024,
  subjectWindow: 64,
  subjectBacklog: 10_000,
};

/** The subject window of the fairness tests. A store that needs the window when it is opened has to be opened with this one. */
export const SMALL_WINDOW = 2;

export interface TestSession {
  readonly id: SessionId;
  readonly run: RunId;
  readonly lane: number;
  readonly identity: Identity;
  readonly tokenDigest: string;
  readonly expiresAt: number;
}

export interface SessionOverrides extends Partial<Identity> {
  readonly actor?: Actor;
  /** Picks a subject whose sessions are in this lane. */
  readonly lane?: number;
  readonly lifetimeMs?: number;
  readonly idleMs?: number;
  readonly delegatedBy?: SessionId;
}

/** Opens a session for a new subject, unless one is given. */
export async function openSession(store: Store, overrides: SessionOverrides = {}): Promise<TestSession> {
  // Sessions live longer than questions wait, because a question ends together with its session.
  const { lane, lifetimeMs = 48 * HOUR_MS, idleMs = HOUR_MS, delegatedBy, actor, ...named } = overrides;
  const identity: Identity = { tenant: 'acme', subject: `user-${randomId()}`, agent: 'helper', ...named };
  const id = newSessionId(identity.tenant, identity.subject, store.lanes, agentsOf(identity));
  if (lane !== undefined && laneOfScopedId(id) !== lane) return openSession(store, overrides);
  const run = newRunId();
  const tokenDigest = sha256(newToken());
  const delegation = delegatedBy === undefined ? {} : { delegatedBy };
  const who = actor === undefined ? {} : { actor };
  const request = { id, run, identity, tokenDigest, lifetimeMs, idleMs, ...delegation, ...who };
  const { expiresAt } = await store.openSession(request);
  return { id, run, lane: laneOfScopedId(id), identity, tokenDigest, expiresAt };
}

export interface CallOverrides extends Partial<AcceptRequest> {
  readonly key?: string;
  readonly arguments?: string;
}

export function acceptRequest(session: TestSession, overrides: CallOverrides = {}): AcceptRequest {
  const { key = randomId(), arguments: args = '{}', ...fields } = overrides;
  const tool = fields.tool ?? TOOL;
  const envelope = encodeEnvelope({
    version: ENVELOPE_VERSION,
    session: session.id,
    run: session.run,
    tool,
    toolDigest: sha256(tool),
    arguments: args,
    key,
    depth: 0,
  });
  return {
    callId: callIdFor(session.id, key)!,
    bodyDigest: bodyDigest(tool, args),
    session: session.id,
    run: session.run,
    proof: { kind: 'token', tokenDigest: session.tokenDigest },
    tool,
    pool: POOL,
    serial: false,
    envelope,
    deadlineMs: HOUR_MS,
    admission: ROOMY,
    ...fields,
  };
}

/** Accepts a call; throws unless it was new. */
export async function acceptOne(store: Store, session: TestSession, overrides: CallOverrides = {}): Promise<CallId> {
  const answer = await store.acceptCall(acceptRequest(session, overrides));
  if (answer.kind !== 'accepted') throw new Error(`Expected the call to be accepted, it was ${JSON.stringify(answer)}`);
  return answer.callId;
}

/** Accepts calls one after the other; the returned order is the accept order. */
export async function acceptMany(
  store: Store,
  session: TestSession,
  count: number,
  overrides: CallOverrides = {},
): Promise<CallId[]> {
  const ids: CallId[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await acceptOne(store, session, overrides));
  return ids;
}

export function newWaiter(overrides: Partial<Waiter> = {}): Waiter {
  return { callerId: newCallerId(), correlationId: randomId(), events: false, ...overrides };
}

export interface ClaimOverrides {
  readonly lane?: number;
  readonly pool?: string;
  readonly workerId?: WorkerId;
  readonly limit?: number;
  readonly waitMs?: number;
}

/** Claims everything that is queued now, without waiting. */
export async function claimMany(store: Store, overrides: ClaimOverrides = {}): Promise<readonly Delivery[]> {
  const request = { lane: 0, pool: POOL, workerId: newWorkerId(), limit: 1_000, waitMs: 0, ...overrides };
  return (await store.claimCalls(request)).deliveries;
}

/** Claims the next call; throws when there is none. */
export async function claimOne(store: Store, overrides: ClaimOverrides = {}): Promise<Delivery> {
  const [delivery, ...others] = await claimMany(store, { limit: 1, ...overrides });
  if (delivery === undefined) throw new Error('Expected a call to be claimable, there was none');
  expect(others, 'more calls than asked for').toEqual([]);
  return delivery;
}

/** Accepts one call and claims it. */
export async function holdOne(store: Store, session: TestSession, overrides: CallOverrides = {}): Promise<Delivery> {
  const callId = await acceptOne(store, session, overrides);
  const delivery = await claimOne(store, { lane: session.lane, pool: overrides.pool ?? POOL });
  expect(delivery.callId).toBe(callId);
  return delivery;
}

export function callIds(deliveries: readonly Delivery[]): CallId[] {
  return deliveries.map((delivery) => delivery.callId);
}

/** Only the fields that identify the lease; the other fields of a delivery are not part of later requests. */
export function ownedBy(delivery: OwnedCall): OwnedCall {
  const { callId, pool, workerId, entryId, fence } = delivery;
  return { callId, pool, workerId, entryId, fence };
}

export function settleRequest(
  delivery: OwnedCall,
  outcome: Uint8Array = encodedOutcome('ok'),
  overrides: Partial<SettleRequest> = {},
): SettleRequest {
  return {
    ...ownedBy(delivery),
    outcome,
    releaseKey: false,
    audit: detail('settled'),
    retentionMs: HOUR_MS,
    ...overrides,
  };
}

export function startRequest(delivery: OwnedCall, overrides: Partial<StartRequest> = {}): StartRequest {
  return { ...ownedBy(delivery), effect: 'unsafe', maxAttempts: 3, ...overrides };
}

export interface AskOverrides extends Partial<Omit<AskRequest, 'question'>> {
  readonly question?: Partial<ApprovalQuestion>;
}

/** The question that the gate would ask about this call: one rule requires an approval. */
export function askRequest(delivery: Delivery, overrides: AskOverrides = {}): AskRequest {
  const { question, ...fields } = overrides;
  const id = newApprovalId(delivery.callId);
  return {
    ...ownedBy(delivery),
    question: {
      id,
      callId: delivery.callId,
      tool: delivery.tool,
      toolDigest: sha256(delivery.tool),
      arguments: '{}',
      masks: [],
      session: delivery.session,
      run: delivery.run,
      identity: JSON.parse(delivery.identity) as Identity,
      askers: [{ kind: 'rule', id: 'ask-first', digest: sha256('ask-first'), grantable: true }],
      title: 'Write a file?',
      description: 'Writes “notes.txt”.',
      reasons: ['the rule says so'],
      severity: 'warning',
      decisions: ['allow-once', 'allow-always', 'deny'],
      approvers: [['role:reviewers']],
      requesterMayDecide: false,
      quorum: 1,
      binding: sha256(id),
      ...question,
    },
    timeoutMs: 24 * HOUR_MS,
    mayHaveRun: false,
    callback: false,
    audit: detail('asked'),
    shares: subjectShares(ROOMY),
    ...fields,
  };
}

/** Parks a held call by asking about it. */
export async function askAbout(store: Store, delivery: Delivery, overrides: AskOverrides = {}): Promise<AskRequest> {
  const request = askRequest(delivery, overrides);
  const answer = await store.askApproval(request);
  if (answer.kind !== 'asked') throw new Error(`Expected the question to be asked, it was ${JSON.stringify(answer)}`);
  return request;
}

export const ALICE: Principal = { kind: 'subject', name: 'acme/alice' };
export const BOB: Principal = { kind: 'subject', name: 'acme/bob' };
export const OPERATOR: Principal = { kind: 'operator', name: 'root' };

export const DENIED = encodedOutcome('denied', 'a person said no');
export const DENIED_MAY_HAVE_RUN = encodedOutcome('denied', 'a person said no, it may have run');

export function decideRequest(
  { question }: Pick<AskRequest, 'question'>,
  decision: ApprovalDecision = 'allow-once',
  overrides: Partial<DecideRequest> = {},
): DecideRequest {
  return {
    id: question.id,
    binding: question.binding,
    decision,
    by: ALICE,
    deadlineMs: 60_000,
    denied: DENIED,
    deniedMayHaveRun: DENIED_MAY_HAVE_RUN,
    audit: detail(decision),
    retentionMs: HOUR_MS,
    ...(overrides.editedArguments === undefined ? {} : { editedBinding: sha256(overrides.editedArguments) }),
    ...overrides,
  };
}

/** Queues a parked call again, as an approver who allows it does. */
export async function allow(store: Store, asked: AskRequest, overrides: Partial<DecideRequest> = {}): Promise<void> {
  expect(await store.decideApproval(decideRequest(asked, 'allow-once', overrides))).toEqual({
    kind: 'decided',
    state: 'allowed',
  });
}

/** A grant for exactly the arguments of the question. */
export function newGrant({ question }: Pick<AskRequest, 'question'>, overrides: Partial<NewGrant> = {}): NewGrant {
  const { tenant, subject, agent } = question.identity;
  return {
    id: newGrantId(question.id),
    tenant,
    subject,
    agent,
    tool: question.tool,
    toolDigest: question.toolDigest,
    matches: { kind: 'exact', argumentsDigest: sha256(question.arguments) },
    askers: question.askers.map(({ digest }) => digest),
    lifetimeMs: HOUR_MS,
    ...overrides,
  };
}

export const CANCELLED = encodedOutcome('cancelled', 'nothing ran');
export const CANCELLED_IF_HELD = encodedOutcome('cancelled', 'may be running');
export const CANCELLED_IF_PARKED = encodedOutcome('cancelled', 'while a person was asked');

export function cancelRequest(callId: CallId, overrides: Partial<CancelRequest> = {}): CancelRequest {
  return {
    callId,
    outcome: CANCELLED,
    outcomeIfHeld: CANCELLED_IF_HELD,
    outcomeIfParked: CANCELLED_IF_PARKED,
    audit: detail('cancelled'),
    retentionMs: HOUR_MS,
    ...overrides,
  };
}

export const EXPIRED = encodedOutcome('expired');
export const TIMED_OUT = encodedOutcome('timed-out');
export const MAY_HAVE_RUN = encodedOutcome('indeterminate');
export const APPROVAL_EXPIRED = encodedOutcome('denied', 'nobody decided in time');
export const SESSION_ENDED = encodedOutcome('denied', 'the session ended first');

export function reapRequest(lane: number, overrides: Partial<ReapRequest> = {}): ReapRequest {
  return {
    lane,
    pools: [POOL],
    limit: 1_000,
    overdueMs: HOUR_MS,
    consumerIdleMs: HOUR_MS,
    retentionMs: HOUR_MS,
    expired: EXPIRED,
    timedOut: TIMED_OUT,
    mayHaveRun: MAY_HAVE_RUN,
    bodyLost: encodedOutcome('indeterminate', 'body lost'),
    approvalExpired: APPROVAL_EXPIRED,
    sessionEnded: SESSION_ENDED,
    audit: detail('reaped'),
    ...overrides,
  };
}

export function encodedOutcome(kind: OutcomeKind, text: string = kind): Uint8Array {
  const executed = kind === 'ok' ? 'yes' : kind === 'indeterminate' ? 'unknown' : 'no';
  return encodeOutcome({ kind, executed, retryable: false, content: [{ kind: 'text', text }] });
}

/** Bytes that are not valid UTF-8, so that a store that treats them as a string fails the test. */
export function detail(label: string): Uint8Array {
  return Uint8Array.from([0x00, 0xff, 0xc3, 0x28, 0x0a, ...Buffer.from(label)]);
}
