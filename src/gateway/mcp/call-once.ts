import { ProtocolError, type ServerContext } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../client/call-answer.ts';
import { APPROVAL_LIMITS, type ApprovalId } from '../../domain/policy/approval.ts';
import type { CallEvent } from '../../domain/call/call-event.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { parseScopedId, type CallId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { SessionHandle } from '../../domain/identity/session.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Answered, Pursued } from './call-context.ts';
import { CallUnderWay } from './call-under-way.ts';
import type { CallMeta } from './call-meta.ts';
import { forwardEvents } from './forward-events.ts';
import { linkAbort } from './link-abort.ts';
import type { McpShared, McpPeer } from './mcp-shared.ts';
import type { EarlierCall, HeldCall, Holding } from './owed-calls.ts';
import { isCalledOff, OwedRequest } from './owed-request.ts';
import { FORM_MS, pursueCall } from './pursue-call.ts';
import { showPending } from './show-pending.ts';
import { knowsTasks } from './tasks.ts';
import { inputKindsOf } from './tool-input.ts';

/** A client can come back for its call until this long after the approval question about the call has expired. */
const OWED_LONGER_MS = 60 * 60 * 1000;
const OVERLOADED_RETRY_MS = 1000;
/**
 * If the record of a call is not in the store this long after its entry among the calls owed was made, the record has expired, or the call
 * will never be accepted. Records are kept for at least 24 hours; the difference leaves room for clocks that differ.
 */
const NEVER_LATER_MS = 12 * 60 * 60 * 1000;

/** A client's request that leads to one call: of a tool, or of a resource or prompt, which are called like tools. */
export interface CallRequest {
  readonly shared: McpShared;
  readonly peer: McpPeer;
  readonly session: SessionHandle;
  readonly ctx: ServerContext;
  readonly method: string;
  /** The params as the client sent them. The state that the client carries is bound to them. */
  readonly params: JsonObject;
  /** Id of the tool in the catalog. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly callMeta: CallMeta;
  readonly hasOutputSchema?: boolean;
}

/** `earlier` is set if this is the answer to a call that an earlier request made. */
export type OnceAnswer = Pursued & { readonly earlier?: EarlierCall | undefined };

/**
 * Makes one call, or takes an earlier identical one whose client has no outcome yet, and follows it to an answer. If the client cancels, or
 * closes the stream of a 2026 request, the call that this request made is cancelled. A request that came back to an earlier call only stops
 * waiting for it.
 */
export async function callOnce(asked: CallRequest): Promise<OnceAnswer> {
  const { shared, peer, session, ctx, method, params, callMeta } = asked;
  const { signal, unlink } = linkAbort(ctx.mcpReq.signal, shared);
  const exchange = peer.exchange?.(ctx.mcpReq.id, signal);
  const owed = new OwedRequest(exchange?.sent, signal);
  const request: OwnRequest = { ...asked, signal, owed, cameAt: exchange?.cameAt ?? performance.now() };
  let round: Answered | undefined;
  try {
    const pursued = await pursueCall({
      shared,
      peer,
      session,
      ctx,
      signal,
      owner: { bearer: peer.bearer, method, params },
      comesBack: () => callMeta.callId !== undefined || owed.earlier !== undefined,
      owedDigest: () => owed.lastDigest,
      resumed: (callId, digest) => holdNamed(request, callId, digest),
      pending: (at) => {
        const { hasOutputSchema } = request;
        return showPending({ ...at, wayBack: wayBackOf(request), earlier: owed.earlier, hasOutputSchema });
      },
      begin: (answered) => begin(request, (round = answered)),
      anew: (outcome) => makeAnew(request, outcome, round),
    });
    await updateOwed(request, pursued);
    // A refusal is about this request, not about the earlier call, so the answer does not name that call. The client can come back for it.
    return pursued.kind === 'settled' ? { ...pursued, earlier: owed.earlier } : pursued;
  } catch (error) {
    // A protocol error is an answer to the client. After any other error the call may still run, so a repeat of the request must find it.
    if (error instanceof ProtocolError) owed.answer();
    else await owed.lose();
    throw error;
  } finally {
    unlink();
  }
}

interface OwnRequest extends CallRequest {
  readonly signal: AbortSignal;
  readonly owed: OwedRequest;
  /** When the request arrived, by `performance.now()`. */
  readonly cameAt: number;
}

function begin(request: OwnRequest, answered?: Answered): CallUnderWay {
  const { shared, session, callMeta, signal } = request;
  const { client, config } = shared.plane;
  const { callId } = callMeta;
  if (callId !== undefined && answered === undefined) {
    const { waitMs } = config.gateway.mcp;
    return CallUnderWay.found(client, session, callId, { waitMs, signal }, () => holdNamed(request, callId));
  }
  const { key } = callMeta;
  return CallUnderWay.made(client, session, (onEvent) => {
    if (key === undefined) return callOwed(request, answered, onEvent);
    return call(request, answered, onEvent, answered === undefined ? key : keyOfRound(key, answered));
  });
}

/** Makes a new call with a new entry among the calls owed, or takes the entry of an earlier call and waits for that call. */
async function callOwed(
  request: OwnRequest,
  answered: Answered | undefined,
  onEvent: (event: CallEvent) => void,
): Promise<CallAnswer> {
  const holding = await hold(request, answered);
  if (holding.kind === 'aborted')
    return { kind: 'refused', outcome: errorOutcome('CALL_CANCELLED', { by: 'request' }) };
  if (holding.kind !== 'held') {
    const isStore = holding.kind === 'full' && holding.of === 'store';
    const what = isStore ? 'the store cannot write now' : 'open MCP calls of this subject';
    return { kind: 'refused', outcome: errorOutcome('OVERLOADED', { what, retryAfterMs: OVERLOADED_RETRY_MS }) };
  }
  const { held } = holding;
  return held.earlier === undefined
    ? call(request, answered, onEvent, held.key)
    : attach(request, answered, onEvent, held);
}

/**
 * Holds an entry for the request: that of an earlier call, or a new one. If the store no longer has the record of the earlier call, nothing
 * shows how that call ended. Its entry is dropped, and another one is held.
 */
async function hold(request: OwnRequest, answered: Answered | undefined): Promise<Holding> {
  const { shared, session, callMeta, signal, owed, cameAt } = request;
  const isLost = (): boolean => owed.isLost;
  const options = { lifetimeMs: owedMs(shared), cameAt, fresh: callMeta.fresh === true, signal, isLost };
  for (;;) {
    const holding = await owed.keep(shared.owed.hold(session, digestOf(request, answered), options));
    const earlier = holding.kind === 'held' ? holding.held.earlier : undefined;
    if (earlier === undefined || !(await isForgotten(shared, earlier))) return holding;
    await owed.drop();
  }
}

async function isForgotten({ plane }: McpShared, { callId, madeAt }: EarlierCall): Promise<boolean> {
  return Date.now() - madeAt > NEVER_LATER_MS && (await plane.store.readCall(callId)) === undefined;
}

/**
 * Makes a new call if the earlier one was cancelled, before it ran, by the request that made it. This is done only while the request is
 * open: the outcome of the earlier call may arrive after that, and then no client would wait for the new call.
 */
async function makeAnew(
  request: OwnRequest,
  outcome: Outcome,
  answered: Answered | undefined,
): Promise<CallUnderWay | undefined> {
  const { signal, owed } = request;
  if (signal.aborted || owed.earlier === undefined || !isCalledOff(outcome)) return undefined;
  await owed.drop();
  return begin(request, answered);
}

/** Waits for an earlier call. If the client stops waiting, the call is not cancelled, because the client was asked to come back for it. */
async function attach(
  request: OwnRequest,
  answered: Answered | undefined,
  onEvent: (event: CallEvent) => void,
  { key, callId }: HeldCall,
): Promise<CallAnswer> {
  const { signal } = request;
  const left: CallAnswer = { kind: 'pending', callId };
  if (signal.aborted) return left;
  const leaving = new AbortController();
  const leave = new Promise<CallAnswer>((resolve) => {
    signal.addEventListener('abort', () => resolve(left), { once: true, signal: leaving.signal });
  });
  const neverCancels = new AbortController().signal;
  try {
    return await Promise.race([call({ ...request, signal: neverCancels }, answered, onEvent, key), leave]);
  } finally {
    leaving.abort();
  }
}

function call(
  { shared, peer, tool, args, callMeta, ctx, signal, method }: OwnRequest,
  answered: Answered | undefined,
  onEvent: (event: CallEvent) => void,
  key: string,
): Promise<CallAnswer> {
  const { client, config } = shared.plane;
  const { waitMs, taskAfterMs } = config.gateway.mcp;
  const { trace, traceState } = callMeta;
  const options = {
    // A client that knows tasks gets a task after this shorter wait, and need not wait until the end.
    waitMs: knowsTasks(peer) && method === 'tools/call' ? taskAfterMs : waitMs,
    signal,
    via: 'mcp',
    onEvent: forwardEvents(callMeta, ctx, onEvent),
    input: { kinds: inputKindsOf(peer), ...answered },
    key,
    ...(trace === undefined ? {} : { trace }),
    ...(traceState === undefined ? {} : { traceState }),
  } as const;
  return shared.callIn(peer, callMeta.run, (session) => client.call(session, tool, args, options));
}

/**
 * Holds the entry of the call whose id the client sent. For a call of another subject nothing is held, and the answer reports it as
 * unknown. Only the client that made the call can come back for it: the digest of this request differs if the agent, tool or arguments
 * differ, and then the entry is not found.
 */
async function holdNamed(request: OwnRequest, callId: string, digest = digestOf(request)): Promise<void> {
  const { shared, session, signal, owed, cameAt } = request;
  const [own, named] = [parseScopedId(session.id), parseScopedId(callId)];
  if (named === undefined || own?.lane !== named.lane || own.scope !== named.scope) return;
  const options = { lifetimeMs: owedMs(shared), cameAt, of: callId as CallId, signal };
  await owed.keep(shared.owed.hold(session, digest, options), { isNamed: true });
}

/** Updates or removes the entries that this request holds, depending on the reply that the client gets. */
async function updateOwed(request: OwnRequest, pursued: Pursued): Promise<void> {
  const { signal, owed } = request;
  if (pursued.kind === 'reply') {
    // Stored before the reply is sent: the client may come back at once, to any gateway, and has to find its call.
    if (pursued.next === 'come-back') await owed.owe(await owedAfterQuestion(request, pursued.approval));
    else owed.answer(pursued.next === 'form' ? FORM_MS : undefined);
    return;
  }
  // A refused request has made no call, so its own entry is removed. The entry of an earlier call stays, and the client can come back for
  // it.
  const isOver =
    pursued.kind === 'refused' ? owed.earlier === undefined : signal.aborted && isCalledOff(pursued.outcome);
  if (isOver) await owed.forget();
  else if (signal.aborted || pursued.kind === 'refused') await owed.lose();
  else owed.answer();
}

/** Digest over agent, tool and arguments; in a later round also over the input that the tool gets. The store sees only the digest. */
function digestOf({ peer, tool, args }: OwnRequest, answered?: Answered): string {
  const { agent = '', delegators } = peer.bearer.identity ?? {};
  const who = delegators === undefined ? agent : [agent, ...delegators];
  const { responses = null, state = null } = answered ?? {};
  return sha256(canonicalJson([who, tool, args, responses, state]));
}

function wayBackOf({ owed, callMeta }: OwnRequest): 'arguments' | 'key' | 'id' {
  if (owed.hasEntry) return 'arguments';
  return callMeta.key === undefined ? 'id' : 'key';
}

/**
 * How long a client can come back for a call about which no person has been asked yet. A person may still be asked, so this is the longest
 * time that a question can stay open, plus an hour.
 */
function owedMs({ plane }: McpShared): number {
  return plane.config.gateway.mcp.owedMs ?? APPROVAL_LIMITS.maxTimeoutMs + OWED_LONGER_MS;
}

/**
 * How long a client can come back for a call about which a person is asked: as long as the question stays open, plus an hour. A configured
 * `owedMs` takes precedence.
 */
async function owedAfterQuestion({ shared, session }: OwnRequest, approval: ApprovalId | undefined): Promise<number> {
  if (approval === undefined || shared.plane.config.gateway.mcp.owedMs !== undefined) return owedMs(shared);
  const asked = await shared.plane.client.approvals.get({ kind: 'session', session }, approval).catch(() => undefined);
  return asked === undefined ? owedMs(shared) : asked.expiresAt - asked.requestedAt + OWED_LONGER_MS;
}

/** The key of a round in which the tool gets input. Each round is a call of its own; the same input sent again is the same call. */
function keyOfRound(key: string, { responses, state = '' }: Answered): string {
  return sha256(canonicalJson([key, responses, state]));
}
