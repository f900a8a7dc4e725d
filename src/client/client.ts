import type { Actor } from '../domain/identity/actor.ts';
import { reaches } from '../domain/identity/agent.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import type { AgentsInput, DeclaredAgents, DeclareOptions } from '../domain/identity/declared-agents.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { CallId, RunId, SessionId, ToolId } from '../domain/identity/ids.ts';
import { unservedTools } from '../domain/tool/serving.ts';
import type { JsonObject } from '../base/json.ts';
import { MAX_RUNS, type SessionHandle } from '../domain/identity/session.ts';
import type { AdmissionLimits, CancelAnswer } from '../domain/ports/call-requests.ts';
import type { EventBus, EventSource } from '../domain/ports/events.ts';
import type { PinnedRoute } from '../domain/ports/pinned-route.ts';
import type { CallerStore } from '../domain/ports/store.ts';
import { createReplyReader } from '../stages/answer/reply-reader.ts';
import { newCallerId, newRunId } from '../domain/identity/new-id.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { createApprovals, type Approvals } from './approvals.ts';
import { settledAnswer, type CallAnswer, type CallInput, type CallOptions } from './call-answer.ts';
import { createCallPath } from './call-path.ts';
import { cancelRequest, unsafeDigestOf } from '../stages/accept/cancel-request.ts';
import { createCatalogView } from './catalog-view.ts';
import { createGrants, type Grants } from './grants.ts';
import { createIdentities, createKnownSessions, findOwnCall, type Caller } from './known-sessions.ts';
import { openSession, refuseUnknown, type OpenSessionOptions } from './open-session.ts';
import { createWaitTimers } from './wait-timers.ts';
import { createRedirects, type RedirectTarget } from './redirect.ts';
import { createSessionToolkits, type SessionToolkit, type ToolkitSettings } from './session-toolkits.ts';
import { createSurfaces, type Surfaces } from './surfaces.ts';
import { createUnknownTools } from './unknown-tools.ts';
import { watchToolkit } from './watch-toolkit.ts';
import { pause } from '../base/pause.ts';

export type { CallAnswer, CallInput, CallOptions, RedirectTarget };

export interface Client extends Surfaces {
  /** `actor` goes into the audit record as the one who opened the session. Default: this program, named by `label`. */
  openSession(options: OpenSessionOptions, actor?: Actor): Promise<SessionHandle>;
  touchSession(session: SessionId): Promise<'touched' | 'ended'>;
  /** Also revokes all sessions that were opened by delegation from this one. Their queued calls end `denied`. */
  revokeSession(session: SessionId, actor?: Actor): Promise<'revoked' | 'unknown'>;
  /** Opens a new run in the same session. All runs of an unattended session are unattended. Throws RUNS_FULL when the session has 1,000 open runs. */
  openRun(session: SessionHandle, options?: OpenRunOptions): Promise<SessionHandle>;
  /** The run's queued calls end `denied` and new ones are refused. The session and its other runs stay open. Ending a run again changes nothing. */
  endRun(session: SessionId, run: RunId, actor?: Actor): Promise<void>;
  /**
   * Adds agents, replaces their declarations, or removes them with `null`. Agents are part of the policy, so the change applies to every
   * call claimed from now on. Agents that are not named stay. The first agents of a deployment turn selection on; the answer reports that.
   * With a tenant, the agents apply to that tenant only.
   */
  declareAgents(agents: AgentsInput, options?: DeclareOptions): Promise<DeclaredAgents>;
  catalog(): Promise<Catalog>;
  /** Published tools that no live worker currently serves. On Redis the role `client` may not list workers: it gets STORE_FORBIDDEN. */
  unservedTools(): Promise<readonly ToolId[]>;
  /** Calls the listener with every new catalog until the returned function is called. */
  watchCatalog(listener: (catalog: Catalog) => void): () => void;
  /**
   * The tools that the agent of this session may call, and why it lacks the others. Read from the store each time; the same object is
   * returned while catalog and policy are unchanged.
   */
  toolkit(session: Caller, options?: { signal?: AbortSignal }): Promise<SessionToolkit>;
  /**
   * Calls the listener with every new toolkit until the returned function is called. When the session has ended, calls it once more with
   * undefined.
   */
  watchToolkit(session: Caller, listener: (toolkit: SessionToolkit | undefined) => void): () => void;
  call(session: Caller, tool: string, args: JsonObject, options?: CallOptions): Promise<CallAnswer>;
  /**
   * The current state of a call. A session reaches the calls of its own agent and of agents that act for it. A call of another agent of the
   * same subject is reported as unknown here, and by `wait`, `cancel` and `redirect`.
   */
  result(session: Caller, callId: string): Promise<CallAnswer>;
  /** Waits for the outcome of a call; works from any process. */
  wait(session: Caller, callId: string, options?: { waitMs?: number; signal?: AbortSignal }): Promise<CallAnswer>;
  cancel(session: Caller, callId: string): Promise<CancelAnswer>;
  /**
   * Sends the outcome to a channel as a message once the call has settled. Default: the session's own channel. Answers `sent` if it was
   * sent before.
   */
  redirect(session: Caller, callId: string, target?: RedirectTarget): Promise<'redirected' | 'sent'>;
  /** Questions to people about calls. */
  readonly approvals: Approvals;
  /** Remembered answers to approvals. */
  readonly grants: Grants;
  /** Diagnostic events of the calls that this client makes. Workers emit the events of running them. */
  readonly events: EventSource;
  close(): Promise<void>;
}

export interface OpenRunOptions {
  /** No person watches this run: a call in it that would need an approval ends at once with APPROVAL_DENIED_AT_ONCE. */
  readonly unattended?: boolean;
}

export interface ClientSettings {
  readonly admission: AdmissionLimits;
  readonly retentionMs: number;
  readonly toolkits?: ToolkitSettings;
  readonly pinned?: PinnedRoute | undefined;
  readonly events: EventBus;
  /** The default actor for opening and revoking sessions. */
  readonly actor: Actor;
}

const POLL_FIRST_MS = 25;
const MAX_POLL_MS = 500;

/** Creates the client without `declareAgents`, which needs the rules of a policy file: `connect` adds it. */
export function createClient(store: CallerStore, settings: ClientSettings): Omit<Client, 'declareAgents'> {
  const callerId = newCallerId();
  const replies = createReplyReader(store, callerId);
  const catalog = createCatalogView(store);
  const knownSession = createKnownSessions();
  const identityOf = createIdentities(store);
  const timers = createWaitTimers();
  const unknownTools = createUnknownTools({ store, identityOf, prove });
  const toolkits = createSessionToolkits(store, catalog, settings.toolkits);
  const closing = new AbortController();
  const { events } = settings;
  const redirects = createRedirects(store);
  const call = createCallPath({
    store,
    replies,
    timers,
    redirects,
    catalog,
    unknownTools,
    events,
    knownSession,
    prove,
    admission: settings.admission,
    pinned: settings.pinned,
    cancel: (session, callId) => void cancel(session, callId, 'request').catch(() => undefined),
  });

  /** A call of another subject gives the same error as an unknown id, so that a caller cannot find out which ids exist. */
  function ownCallId(session: Caller, callId: string): CallId {
    const found = findOwnCall(session, callId);
    if (found === undefined) throw planeError('CALL_UNKNOWN', { callId: callId.slice(0, 64) });
    return found;
  }

  async function result(session: Caller, asked: string): Promise<CallAnswer> {
    await prove(session);
    return read(session, ownCallId(session, asked));
  }

  async function prove(session: Caller): Promise<void> {
    const ending = await store.proveSession({
      session: session.id,
      tokenDigest: knownSession(session).proof.tokenDigest,
    });
    if (ending === undefined) return;
    const problem = ending === 'unknown' ? 'there is no such session, or the token is wrong' : `it is ${ending}`;
    throw planeError('SESSION_INVALID', { problem });
  }

  /**
   * A call of another agent of the same subject gives the same error as an unknown id. The store is read in the same way for both, so that
   * a caller cannot distinguish them by the time it takes.
   */
  async function read(session: Caller, callId: CallId): Promise<CallAnswer> {
    const identity = await identityOf(session.id);
    const record = await store.readCall(callId);
    if (record === undefined || !reaches(identity, record.identity)) throw planeError('CALL_UNKNOWN', { callId });
    if (record.outcome === undefined) {
      const approval = record.state === 'parked' ? record.approval : undefined;
      return { kind: 'pending', callId, ...(approval === undefined ? {} : { approval }) };
    }
    return settledAnswer(callId, decodeOutcome(record.outcome));
  }

  async function cancel(session: Caller, asked: string, by: 'caller' | 'request'): Promise<CancelAnswer> {
    const callId = ownCallId(session, asked);
    const answer = await store.cancelCall({
      ...cancelRequest(callId, settings.retentionMs, by),
      ...(await unsafeDigestOf(callId, store, (tool) => catalog.find(tool))),
      session: { id: session.id, tokenDigest: knownSession(session).proof.tokenDigest },
    });
    const { id, run } = session;
    events.emit('call.cancelled', { stage: 'accept', callId, session: id, run, answer });
    if (answer === 'unknown') throw planeError('CALL_UNKNOWN', { callId });
    return answer;
  }

  const toolkit: Client['toolkit'] = (session, { signal } = {}) => toolkits.find(session, prove(session), signal);

  return {
    call,
    events: { subscribe: events.subscribe },
    unservedTools: async () => unservedTools((await catalog.current()).modules, await store.listWorkers()),
    toolkit,
    ...createSurfaces({ toolkit, call }),
    watchToolkit: (session, listener) =>
      watchToolkit(store, () => toolkit(session), { listener, signal: closing.signal }),
    result,
    cancel: (session, callId) => cancel(session, callId, 'caller'),
    redirect: async (session, asked, target = {}) =>
      redirects.redirect(knownSession(session), ownCallId(session, asked), target, 0),
    approvals: createApprovals(store, settings),
    grants: createGrants(store),
    async wait(session, asked, options = {}) {
      await prove(session);
      const callId = ownCallId(session, asked);
      const giveUpAt = performance.now() + (options.waitMs ?? 60_000);
      for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS)) {
        const answer = await read(session, callId);
        const leftMs = giveUpAt - performance.now();
        if (answer.kind === 'settled' || leftMs <= 0 || options.signal?.aborted === true) return answer;
        await pause(Math.min(pauseMs, leftMs));
      }
    },
    openSession: (options, actor = settings.actor) => openSession(store, options, actor),
    touchSession: (session) => store.touchSession(session),
    revokeSession: (session, actor = settings.actor) => store.revokeSession({ session, actor }),
    async openRun(session, options = {}) {
      refuseUnknown(options, ['unattended']);
      const run: RunId = newRunId(options);
      const answer = await store.openRun({ session: session.id, run });
      if (answer === 'ended') throw planeError('SESSION_INVALID', { problem: 'it has ended' });
      if (answer === 'full') throw planeError('RUNS_FULL', { limit: MAX_RUNS });
      return { ...session, run };
    },
    endRun: (session, run, actor) => store.endRun({ session, run, ...(actor === undefined ? {} : { actor }) }),
    catalog: () => catalog.refresh(),
    watchCatalog: (listener) => catalog.watch(listener),
    async close() {
      closing.abort();
      catalog.close();
      toolkits.close();
      replies.close();
      timers.close();
      await store.close();
      await events.close();
    },
  };
}
