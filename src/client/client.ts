import type { Catalog } from '../domain/catalog.ts';
import type { CallEvent } from '../domain/call-event.ts';
import { planeError, trouble } from '../domain/errors.ts';
import { parseScopedId, type CallId, type RunId, type SessionId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { SessionHandle } from '../domain/session.ts';
import type { AdmissionLimits, CancelAnswer } from '../ports/call-store.ts';
import type { Store } from '../ports/store.ts';
import { call as acceptCall } from '../stages/call/call.ts';
import { prepareCall } from '../stages/call/prepare-call.ts';
import { createReplyReader, type ExpectedReply } from '../stages/reply/reply-reader.ts';
import { decode } from '../wire/message-pack.ts';
import { newCallerId, newRunId, randomId } from '../wire/ids.ts';
import { decodeOutcome } from '../wire/outcome.ts';
import { cancelRequest } from './cancel-request.ts';
import { createCatalogView } from './catalog-view.ts';
import { openSession, type OpenSessionOptions } from './open-session.ts';
import { createTokenDigests } from './token-digests.ts';

/** How a call stands. `refused` was never accepted and left no trace; `pending` goes on and can be asked for by its id. */
export type CallAnswer =
  | { readonly kind: 'settled'; readonly callId: CallId; readonly outcome: Outcome }
  | { readonly kind: 'refused'; readonly outcome: Outcome }
  | { readonly kind: 'pending'; readonly callId: CallId };

export interface CallOptions {
  /** The same key with the same arguments is the same call. Minted if absent. */
  readonly key?: string;
  /** When the call ends, counted from its acceptance. */
  readonly deadlineMs?: number;
  /** How long to wait here before the answer is `pending`. Default: the tool's own. */
  readonly waitMs?: number;
  /** Aborting cancels the call. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: CallEvent) => void;
  /** Display name, message id, room context: reaches the tool marked as untrusted. */
  readonly untrusted?: JsonObject;
  /** W3C traceparent. */
  readonly trace?: string;
}

type Caller = Pick<SessionHandle, 'id' | 'token' | 'run'>;

export interface Client {
  openSession(options: OpenSessionOptions): Promise<SessionHandle>;
  touchSession(session: SessionId): Promise<'touched' | 'ended'>;
  revokeSession(session: SessionId): Promise<'revoked' | 'unknown'>;
  /** A fresh run in the same session. */
  openRun(session: SessionHandle): Promise<SessionHandle>;
  /** Its queued calls end `denied`, new ones are refused; the session and its other runs live on. Ending it again changes nothing. */
  endRun(session: SessionId, run: RunId): Promise<void>;
  catalog(): Promise<Catalog>;
  /** Calls back with every new catalog until the returned function is called. */
  watchCatalog(listener: (catalog: Catalog) => void): () => void;
  call(session: Caller, tool: string, args: JsonObject, options?: CallOptions): Promise<CallAnswer>;
  /** How a call stands now. */
  result(session: Caller, callId: string): Promise<CallAnswer>;
  /** Waits for the outcome of a call, from any process. */
  wait(session: Caller, callId: string, options?: { waitMs?: number; signal?: AbortSignal }): Promise<CallAnswer>;
  cancel(session: Caller, callId: string): Promise<CancelAnswer>;
  close(): Promise<void>;
}

export interface ClientSettings {
  readonly admission: AdmissionLimits;
  readonly retentionMs: number;
}

/** A timer beyond this fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Between tries of a call that no worker of the right release could take yet. */
const RETRY_PAUSES_MS = [50, 100, 200, 400, 800, 1600, 3200];
const POLL_FIRST_MS = 25;
const POLL_MOST_MS = 500;

export function createClient(store: Store, settings: ClientSettings): Client {
  const callerId = newCallerId();
  const replies = createReplyReader(store, callerId);
  const catalog = createCatalogView(store);
  const tokenDigest = createTokenDigests();

  async function call(session: Caller, tool: string, args: JsonObject, options: CallOptions = {}): Promise<CallAnswer> {
    const key = options.key ?? randomId();
    for (let attempt = 0; ; attempt += 1) {
      const shown = await catalog.find(tool);
      const answer = await callOnce(session, tool, args, { ...options, key });
      if (answer.kind !== 'settled' || answer.outcome.kind !== 'stale') return answer;
      // The tool changed since we read the catalog: read it again and repeat, once, under the same key. If it has not changed,
      // the call met a worker of another release; one that serves it lives, so it is worth another try.
      await catalog.refresh();
      const changed = (await catalog.find(tool))?.tool.digest !== shown?.tool.digest;
      const pauseMs = RETRY_PAUSES_MS[attempt];
      if (pauseMs === undefined || (attempt > 0 && changed)) return answer;
      if (!changed) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async function callOnce(session: Caller, tool: string, args: JsonObject, options: CallOptions): Promise<CallAnswer> {
    if (options.signal?.aborted === true) return { kind: 'refused', outcome: trouble('CALL_CANCELLED', {}) };
    const published = await catalog.find(tool);
    if (published === undefined) {
      return { kind: 'refused', outcome: trouble('TOOL_UNKNOWN', { tool: tool.slice(0, 130), near: [] }) };
    }
    const prepared = prepareCall({
      session: session.id,
      run: session.run,
      proof: { kind: 'token', tokenDigest: tokenDigest(session.token) },
      tool: published,
      arguments: args,
      key: options.key,
      deadlineMs: options.deadlineMs,
      trace: options.trace,
      depth: 0,
      untrusted: options.untrusted,
      admission: settings.admission,
    });
    if (prepared.kind === 'refused') return prepared;
    const { request } = prepared;
    const lane = parseScopedId(request.callId)!.lane;
    if (lane >= store.lanes) return { kind: 'refused', outcome: trouble('SESSION_UNKNOWN', {}) };
    const expected = replies.expect(lane, eventListener(options.onEvent));
    const waiter = { callerId, correlationId: expected.correlationId, events: options.onEvent !== undefined };
    try {
      const acceptance = await acceptCall(request, waiter, { store });
      if (acceptance.kind !== 'under-way') {
        expected.forget();
        return acceptance.kind === 'refused' ? acceptance : { ...acceptance, kind: 'settled' };
      }
      expected.accepted(acceptance.callId);
      tell(options, { kind: 'queued', callId: acceptance.callId });
      return await awaitReply(session, acceptance.callId, expected, {
        ...options,
        waitMs: options.waitMs ?? published.tool.limits.waitMs,
      });
    } catch (error) {
      expected.forget();
      throw error;
    }
  }

  async function awaitReply(
    session: Caller,
    callId: CallId,
    expected: ExpectedReply,
    options: CallOptions & { waitMs: number },
  ): Promise<CallAnswer> {
    const onAbort = (): void => void cancel(session, callId).catch(() => undefined);
    if (options.signal?.aborted === true) onAbort();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, Math.min(options.waitMs, LONGEST_TIMER_MS), undefined);
    });
    try {
      const bytes = await Promise.race([expected.outcome, patience]);
      if (bytes === undefined) {
        expected.forget();
        tell(options, { kind: 'pending', callId });
        return { kind: 'pending', callId };
      }
      tell(options, { kind: 'settled', callId });
      return { kind: 'settled', callId, outcome: decodeOutcome(bytes) };
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Somebody else's call and no call at all are the same answer. */
  function ownCallId(session: Caller, callId: string): CallId {
    const [own, asked] = [parseScopedId(session.id), parseScopedId(callId)];
    if (own === undefined || asked === undefined || own.lane !== asked.lane || own.scope !== asked.scope) {
      throw planeError('CALL_UNKNOWN', { callId: callId.slice(0, 64) });
    }
    return callId as CallId;
  }

  async function result(session: Caller, asked: string): Promise<CallAnswer> {
    await prove(session);
    return read(ownCallId(session, asked));
  }

  async function prove(session: Caller): Promise<void> {
    const ending = await store.proveSession({ session: session.id, tokenDigest: tokenDigest(session.token) });
    if (ending === undefined) return;
    const problem = ending === 'unknown' ? 'there is no such session, or the token is wrong' : `it is ${ending}`;
    throw planeError('SESSION_INVALID', { problem });
  }

  async function read(callId: CallId): Promise<CallAnswer> {
    const record = await store.readCall(callId);
    if (record === undefined) throw planeError('CALL_UNKNOWN', { callId });
    if (record.outcome === undefined) return { kind: 'pending', callId };
    return { kind: 'settled', callId, outcome: decodeOutcome(record.outcome) };
  }

  async function cancel(session: Caller, asked: string): Promise<CancelAnswer> {
    const callId = ownCallId(session, asked);
    const answer = await store.cancelCall({
      ...cancelRequest(callId, settings.retentionMs, 'caller'),
      session: { id: session.id, tokenDigest: tokenDigest(session.token) },
    });
    if (answer === 'unknown') throw planeError('CALL_UNKNOWN', { callId });
    return answer;
  }

  return {
    call,
    result,
    cancel,
    async wait(session, asked, options = {}) {
      await prove(session);
      const callId = ownCallId(session, asked);
      const giveUpAt = performance.now() + (options.waitMs ?? 60_000);
      for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, POLL_MOST_MS)) {
        const answer = await read(callId);
        const leftMs = giveUpAt - performance.now();
        if (answer.kind === 'settled' || leftMs <= 0 || options.signal?.aborted === true) return answer;
        await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)));
      }
    },
    openSession: (options) => openSession(store, options),
    touchSession: (session) => store.touchSession(session),
    revokeSession: (session) => store.revokeSession(session),
    async openRun(session) {
      const run: RunId = newRunId();
      const answer = await store.openRun({ session: session.id, run });
      if (answer === 'ended') throw planeError('SESSION_INVALID', { problem: 'it has ended' });
      return { ...session, run };
    },
    endRun: (session, run) => store.endRun({ session, run }),
    catalog: () => catalog.refresh(),
    watchCatalog: (listener) => catalog.watch(listener),
    async close() {
      catalog.close();
      replies.close();
      await store.close();
    },
  };
}

/** A listener's mistake is its own: the call goes on, and its answer is given. */
function tell({ onEvent }: CallOptions, event: CallEvent): void {
  try {
    onEvent?.(event);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}

function eventListener(onEvent: CallOptions['onEvent']): ((bytes: Uint8Array) => void) | undefined {
  if (onEvent === undefined) return undefined;
  return (bytes) => onEvent(decode(bytes) as CallEvent);
}
