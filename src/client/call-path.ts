import { errorOutcome } from '../domain/errors/errors.ts';
import { parseTrace } from '../domain/call/trace-context.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import type { AdmissionLimits } from '../domain/ports/call-requests.ts';
import type { EventBus } from '../domain/ports/events.ts';
import type { PinnedRoute } from '../domain/ports/pinned-route.ts';
import type { CallerStore } from '../domain/ports/store.ts';
import type { PublishedTool } from '../domain/tool/catalog.ts';
import type { JsonObject } from '../base/json.ts';
import { pause } from '../base/pause.ts';
import { CallerEmitter, sentTrace } from '../stages/accept/caller-emitter.ts';
import { prepareCall, type CallOrder } from '../stages/accept/prepare-call.ts';
import { settledAnswer, type CallAnswer, type CallInput, type CallOptions } from './call-answer.ts';
import { CallInFlight, type CallInFlightNeeds, type RequestedCall } from './call-in-flight.ts';
import type { CatalogView } from './catalog-view.ts';
import { findOwnCall, headOf, type Caller, type KnownSession } from './known-sessions.ts';
import type { UnknownTools } from './unknown-tools.ts';

interface Needs extends Omit<CallInFlightNeeds, 'store' | 'tryAgain'> {
  readonly store: CallerStore;
  readonly catalog: CatalogView;
  readonly unknownTools: UnknownTools;
  readonly events: EventBus;
  readonly admission: AdmissionLimits;
  readonly pinned: PinnedRoute | undefined;
  readonly knownSession: (session: Caller) => KnownSession;
  /** Throws if the token is not the session's. */
  readonly prove: (session: Caller) => Promise<void>;
}

export type MakeCall = (session: Caller, tool: string, args: JsonObject, options?: CallOptions) => Promise<CallAnswer>;

/** Pauses between tries of a call for which no worker of the right release was available yet. */
const RETRY_PAUSES_MS = [50, 100, 200, 400, 800, 1600, 3200];

/**
 * The caller's half of the path of a call; the worker's half is data-path.ts. Four steps: find the tool, prepare the request
 * (stages/accept), register a waiter for the reply (stages/answer), and store the call. Then the caller waits. `CallInFlight` does all of
 * this from the waiter on.
 */
export function createCallPath(needs: Needs): MakeCall {
  const { store, replies, catalog, unknownTools, events, redirects, knownSession, prove } = needs;
  const inFlight: CallInFlightNeeds = { ...needs, tryAgain };

  function call(session: Caller, tool: string, args: JsonObject, options: CallOptions = {}): Promise<CallAnswer> {
    if (options.input?.of !== undefined) return callAgain(session, tool, args, options, options.input);
    if (options.redirect === undefined) return callNow(session, tool, args, options);
    // Check the target before the call is accepted: a redirect without a valid target is a caller error.
    const checking = redirects.check(knownSession(session), options.redirect);
    return checking.then(() => callNow(session, tool, args, options));
  }

  /**
   * Makes a call with input for an earlier call that asked for it. The state that the earlier call left is added, if that call belongs to
   * this session and tool; otherwise the answer is INPUT_STALE.
   */
  async function callAgain(
    session: Caller,
    tool: string,
    args: JsonObject,
    options: CallOptions,
    { of, ...input }: CallInput,
  ): Promise<CallAnswer> {
    const asked = await readAsked(session, String(of));
    if (asked?.tool !== tool)
      return refuse(errorOutcome('INPUT_STALE', { callId: String(of).slice(0, 64) }), emitterFor(session, options));
    const { state: _given, ...rest } = input;
    const state = asked.state === undefined ? {} : { state: asked.state };
    return call(session, tool, args, { ...options, input: { ...rest, ...state } });
  }

  async function readAsked(session: Caller, callId: string): Promise<{ tool: string; state?: string } | undefined> {
    await prove(session);
    const own = findOwnCall(session, callId);
    const record = own === undefined ? undefined : await store.readCall(own);
    if (record?.outcome === undefined || record.session !== session.id) return undefined;
    const answer = settledAnswer(record.callId, decodeOutcome(record.outcome));
    if (answer.kind !== 'settled' || answer.input === undefined) return undefined;
    const { state } = answer.input;
    return { tool: record.tool, ...(state === undefined ? {} : { state }) };
  }

  function callNow(session: Caller, tool: string, args: JsonObject, options: CallOptions): Promise<CallAnswer> {
    const known = catalog.known(tool);
    if (known === undefined) return findAndTry(session, tool, args, options, options.key, 0);
    return tryCall(session, known, args, options, options.key, 0);
  }

  async function findAndTry(
    session: Caller,
    name: string,
    args: JsonObject,
    options: CallOptions,
    key: string | undefined,
    attempt: number,
  ): Promise<CallAnswer> {
    const tool = await catalog.find(name);
    if (tool !== undefined) return tryCall(session, tool, args, options, key, attempt);
    return refuse(await unknownTools.refuse(session, name), emitterFor(session, options));
  }

  function emitterFor({ id, run }: Caller, options: CallOptions, tool?: PublishedTool): CallerEmitter | undefined {
    if (!events.listening) return undefined;
    const facts = { session: id, run, via: options.via, ...(tool === undefined ? {} : { tool: tool.tool.id }) };
    return new CallerEmitter(events, facts, parseTrace(options.trace, options.traceState));
  }

  /** Not an async function, so that the promise of the call in flight is returned as it is, without another promise around it. */
  function tryCall(
    caller: Caller,
    tool: PublishedTool,
    args: JsonObject,
    options: CallOptions,
    givenKey: string | undefined,
    attempt: number,
  ): Promise<CallAnswer> {
    try {
      const callEvents = emitterFor(caller, options, tool);
      if (options.signal?.aborted === true) return refuse(errorOutcome('CALL_CANCELLED', {}), callEvents);
      const session = knownSession(caller);
      const correlationId = replies.newCorrelationId();
      const sent = sentTrace(options, callEvents);
      const order: CallOrder = {
        session: session.id,
        run: session.run,
        proof: session.proof,
        tool,
        pinned: needs.pinned,
        head: headOf(session, tool),
        arguments: args,
        key: givenKey,
        deadlineMs: options.deadlineMs,
        trace: sent.trace,
        traceState: sent.traceState,
        depth: 0,
        untrusted: options.untrusted,
        admission: needs.admission,
        waiter: { callerId: replies.callerId, correlationId, events: options.onEvent !== undefined },
      };
      const prepared = prepareCall(options.input === undefined ? order : { ...order, input: options.input });
      if (prepared.kind === 'refused') return refuse(prepared.outcome, callEvents);
      if (session.lane >= store.lanes) return refuse(errorOutcome('SESSION_UNKNOWN', {}), callEvents);
      callEvents?.prepared(prepared, args);
      const requested: RequestedCall = {
        session,
        tool,
        arguments: args,
        options,
        key: prepared.key,
        attempt,
        events: callEvents,
      };
      return new CallInFlight(inFlight, requested, correlationId).send(prepared.request);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Called when a worker answered `stale`. If the tool changed since this client read the catalog, the call is repeated once under the same
   * key with the new catalog. If the tool did not change, the call reached a worker of another release. It is then repeated after a pause,
   * because another worker serves this release.
   */
  async function tryAgain(requested: RequestedCall, stale: CallAnswer): Promise<CallAnswer> {
    const { attempt } = requested;
    const { id, digest } = requested.tool.tool;
    await catalog.refresh();
    const changed = (await catalog.find(id))?.tool.digest !== digest;
    const pauseMs = RETRY_PAUSES_MS[attempt];
    if (pauseMs === undefined || (attempt > 0 && changed)) return stale;
    if (!changed) await pause(pauseMs);
    return findAndTry(requested.session, id, requested.arguments, requested.options, requested.key, attempt + 1);
  }

  return call;
}

function refuse(outcome: Outcome, callEvents?: CallerEmitter): Promise<CallAnswer> {
  callEvents?.answered({ kind: 'refused', outcome });
  return Promise.resolve({ kind: 'refused', outcome });
}
