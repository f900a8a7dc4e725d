import { errorOutcome } from '../domain/errors/errors.ts';
import { indexTools, type PublishedTool } from '../domain/tool/catalog.ts';
import { parseScopedId, type ToolId } from '../domain/identity/ids.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import { parseTrace, type TraceContext } from '../domain/call/trace-context.ts';
import type { CallCancellation, CallIntake, CallReader, CallReplies } from '../domain/ports/call-store.ts';
import type { AdmissionLimits, Delivery } from '../domain/ports/call-requests.ts';
import type { Events } from '../domain/ports/events.ts';
import type { PinnedRoute } from '../domain/ports/pinned-route.ts';
import type { Plane } from '../domain/ports/plane.ts';
import type { IncarnationCheck } from '../domain/ports/store.ts';
import type { CatalogWatch } from '../domain/ports/catalog-store.ts';
import { accept } from '../stages/accept/accept.ts';
import { cancelRequest, unsafeDigest } from '../stages/accept/cancel-request.ts';
import { CallerEmitter } from '../stages/accept/caller-emitter.ts';
import { prepareCall, type CallOrder } from '../stages/accept/prepare-call.ts';
import { createReplyReader } from '../stages/answer/reply-reader.ts';
import { newCallerId } from '../domain/identity/new-id.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import type { Slots } from './slots.ts';
import type { ToolLimiter } from './tool-limiter.ts';

export interface NestedCalls {
  readonly run: Plane['nested'];
  /** Calls the listener when this call waits for a nested call. Returns a function that removes the listener. */
  readonly onWait: (parent: Delivery, listener: () => void) => () => void;
  close(): void;
}

interface NestedNeeds {
  readonly store: CallIntake & CallReplies & CallReader & CallCancellation & CatalogWatch & IncarnationCheck;
  /** The slots that waiting parents lend; only nested calls use them. */
  readonly nestedSlots: Slots;
  readonly limiter: Pick<ToolLimiter, 'lend'>;
  readonly admission: AdmissionLimits;
  readonly retentionMs: number;
  /** Set when the worker runs in its caller's process: its tools may then call the tools that are pinned to that process. */
  readonly pinned?: PinnedRoute | undefined;
  readonly events: Events;
}

/**
 * Calls made by tools. They take the same path as every other call, with the parent's id. Instead of a token, the parent's lease proves
 * that they are allowed. They are cancelled when the parent ends. While the parent waits, its slot is lent to nested calls.
 */
export function createNestedCalls(needs: NestedNeeds): NestedCalls {
  const { store, nestedSlots, limiter } = needs;
  const callerId = newCallerId();
  const replies = createReplyReader(store, callerId);
  let tools: ReadonlyMap<ToolId, PublishedTool> = new Map();
  let sequence = -1;
  /** The number of nested calls that each parent waits for. */
  const waiting = new Map<string, number>();
  const listeners = new Map<string, () => void>();
  const turns = new Map<string, () => void>();
  const nameOf = ({ callId, fence }: Delivery): string => `${callId}/${fence}`;

  /** However many nested calls a parent makes at once, it lends only one slot. */
  function beginWait(delivery: Delivery): () => void {
    const name = nameOf(delivery);
    const before = waiting.get(name) ?? 0;
    waiting.set(name, before + 1);
    if (before === 0) {
      nestedSlots.release(1);
      turns.set(name, limiter.lend(delivery.tool));
    }
    listeners.get(name)?.();
    return () => {
      const left = (waiting.get(name) ?? 1) - 1;
      if (left > 0) return void waiting.set(name, left);
      waiting.delete(name);
      turns.get(name)?.();
      turns.delete(name);
      nestedSlots.retake();
    };
  }

  function emitterFor(
    { session, run, callId: parent }: Delivery,
    trace: TraceContext | undefined,
    tool: PublishedTool | undefined,
  ): CallerEmitter | undefined {
    if (!needs.events.listening) return undefined;
    const facts = { session, run, parent, ...(tool === undefined ? {} : { tool: tool.tool.id }) };
    return new CallerEmitter(needs.events, facts, parseTrace(trace?.traceparent, trace?.tracestate));
  }

  async function find(tool: ToolId): Promise<PublishedTool | undefined> {
    const newer = await store.watchCatalog({ after: sequence, waitMs: 0 });
    if (newer !== undefined) {
      sequence = newer.sequence;
      tools = indexTools(newer);
    }
    return tools.get(tool);
  }

  return {
    onWait(delivery, listener) {
      listeners.set(nameOf(delivery), listener);
      return () => void listeners.delete(nameOf(delivery));
    },
    async run(parent, { depth, timeLeftMs, signal, trace }, request) {
      const tool = await find(request.tool);
      const callEvents = emitterFor(parent, trace, tool);
      if (tool === undefined) return refuse(errorOutcome('TOOL_UNKNOWN', { tool: request.tool, near: [] }), callEvents);
      const sent = callEvents?.trace ?? trace;
      const order: CallOrder = {
        session: parent.session,
        run: parent.run,
        proof: { kind: 'parent', owned: ownedBy(parent) },
        tool,
        pinned: needs.pinned,
        arguments: request.arguments,
        // The key contains the parent's id: a parent that is run again gets the outcome of the nested call that its first run made.
        key: request.key === undefined ? undefined : `${parent.callId}:${request.key}`,
        deadlineMs: Math.max(1, Math.min(request.deadlineMs ?? Number.POSITIVE_INFINITY, timeLeftMs)),
        parent: parent.callId,
        trace: sent?.traceparent,
        traceState: sent?.tracestate,
        depth,
        admission: needs.admission,
      };
      const prepared = prepareCall(request.input === undefined ? order : { ...order, input: request.input });
      if (prepared.kind === 'refused') return refuse(prepared.outcome, callEvents);
      callEvents?.prepared(prepared, request.arguments);
      const lane = parseScopedId(prepared.request.callId)!.lane;
      const expected = replies.expect(lane);
      const waiter = { callerId, correlationId: expected.correlationId, events: false };
      const endWait = beginWait(parent);
      try {
        const acceptance = await accept({ ...prepared.request, waiter }, store);
        callEvents?.answered(acceptance);
        if (acceptance.kind !== 'under-way') return acceptance.outcome;
        expected.accepted(acceptance.callId);
        const outcome = await untilSettled(expected.outcome, signal, () =>
          store.cancelCall({
            ...cancelRequest(acceptance.callId, needs.retentionMs, 'parent'),
            ...unsafeDigest(tool.tool),
          }),
        );
        callEvents?.replied(outcome);
        return outcome;
      } finally {
        expected.forget();
        endWait();
      }
    },
    close: () => replies.close(),
  };
}

function refuse(outcome: Outcome, callEvents: CallerEmitter | undefined): Outcome {
  callEvents?.answered({ kind: 'refused', outcome });
  return outcome;
}

function ownedBy({ callId, pool, workerId, entryId, fence }: Delivery) {
  return { callId, pool, workerId, entryId, fence };
}

/** Waits for the outcome of a nested call. When the parent ends, `signal` is aborted, and this cancels the nested call. */
async function untilSettled(
  outcome: Promise<Uint8Array>,
  signal: AbortSignal,
  cancel: () => Promise<unknown>,
): Promise<Outcome> {
  const onAbort = (): void => void cancel().catch(() => undefined);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return decodeOutcome(await outcome);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
