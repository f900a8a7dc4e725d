import { ENVELOPE_VERSION, LIMITS } from '../../domain/call/call.ts';
import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { nestedPool, type CallId, type RunId, type SessionId } from '../../domain/identity/ids.ts';
import type { GivenInput } from '../../domain/call/input.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { AcceptRequest, AdmissionLimits, CallProof, Waiter } from '../../domain/ports/call-requests.ts';
import type { PinnedRoute } from '../../domain/ports/pinned-route.ts';
import { checkArguments, type WrittenArguments } from '../../domain/call/check-arguments.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { encodeEnvelope } from '../../domain/call/envelope.ts';
import { encodeEnvelopeText } from '../../domain/call/envelope-text.ts';
import { askedCallId, newKey } from '../../domain/identity/new-id.ts';
import { writeInput, type WrittenInput } from './write-input.ts';

export interface CallOrder {
  readonly session: SessionId;
  readonly run: RunId;
  readonly proof: CallProof;
  readonly tool: PublishedTool;
  /** Absent: this process serves no pinned tools. */
  readonly pinned?: PinnedRoute | undefined;
  /** The encoded envelope up to the arguments, if the caller caches it. It must belong to this session, run and tool. */
  readonly head?: string | undefined;
  readonly arguments: unknown;
  readonly key?: string | undefined;
  readonly deadlineMs?: number | undefined;
  readonly trace?: string | undefined;
  readonly traceState?: string | undefined;
  readonly parent?: CallId | undefined;
  readonly depth: number;
  readonly untrusted?: JsonObject | undefined;
  /** Answers to what the tool asked for in an earlier call. Calls without input leave the member out; it is never set to undefined. */
  readonly input?: GivenInput;
  readonly admission: AdmissionLimits;
  readonly waiter?: Waiter;
}

export type PreparedCall =
  | {
      readonly kind: 'prepared';
      readonly request: AcceptRequest;
      readonly key: string;
      /** The arguments as canonical JSON, as they are sent. */
      readonly canonical: string;
    }
  | { readonly kind: 'refused'; readonly outcome: Outcome };

/** Time for waiting in the queue, added to the tool's own timeout. */
const QUEUE_BUDGET_MS = 60_000;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** Checks everything that needs no store. A call refused here leaves nothing in the store. */
export function prepareCall(order: CallOrder): PreparedCall {
  const checked = checkArguments(order.arguments);
  if (!checked.ok) {
    return refused(
      checked.code === 'ARGUMENTS_TOO_LARGE'
        ? errorOutcome('ARGUMENTS_TOO_LARGE', checked.facts)
        : errorOutcome('ENVELOPE_INVALID', checked.facts),
    );
  }
  const key = order.key ?? newKey(order.session);
  const keyProblem = order.key === undefined ? undefined : findKeyProblem(key);
  if (keyProblem !== undefined) return refused(errorOutcome('KEY_INVALID', { problem: keyProblem }));
  const declaration = order.tool.tool;
  const deadlineMs = order.deadlineMs ?? declaration.limits.timeoutMs + QUEUE_BUDGET_MS;
  const problem = findProblem(order, deadlineMs);
  if (problem !== undefined) return refused(problem);
  const input = order.input === undefined ? undefined : writeInput(order.input);
  if (input?.kind === 'refused') return refused(input.outcome);
  const callId = askedCallId(order.session, key);
  if (callId === undefined) return refused(errorOutcome('SESSION_UNKNOWN', {}));
  const pool = poolOf(order);
  if (pool === undefined) return refused(errorOutcome('TOOL_PINNED', { tool: declaration.id }));
  const request: Writable<AcceptRequest> = {
    callId,
    bodyDigest: bodyDigest(declaration.id, checked.canonical, input?.text),
    session: order.session,
    run: order.run,
    proof: order.proof,
    tool: declaration.id,
    pool: order.proof.kind === 'parent' ? nestedPool(pool) : pool,
    serial: declaration.serial,
    envelope: input === undefined ? toEnvelope(order, key, checked) : toEnvelope(order, key, checked, input),
    deadlineMs,
    admission: order.admission,
  };
  if (order.waiter !== undefined) request.waiter = order.waiter;
  return { kind: 'prepared', request, key, canonical: checked.canonical };
}

type Writable<Shape> = { -readonly [Name in keyof Shape]: Shape[Name] };

function refused(outcome: Outcome): PreparedCall {
  return { kind: 'refused', outcome };
}

function poolOf({ tool: { tool, module }, pinned }: CallOrder): string | undefined {
  return tool.pinned === undefined ? module.pool : pinned?.poolOf(tool.id);
}

/** Checks the type too: a JavaScript caller may pass anything. */
function findKeyProblem(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'it is not text';
  if (key.length > LIMITS.keyLength) return 'it is too long';
  return PRINTABLE.test(key) ? undefined : 'it is empty or has other characters';
}

function findProblem(order: CallOrder, deadlineMs: number): Outcome | undefined {
  if (order.depth > LIMITS.nestedDepth) return errorOutcome('NESTED_TOO_DEEP', { limit: LIMITS.nestedDepth });
  if (!Number.isInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > LIMITS.maxDeadlineMs) {
    return errorOutcome('DEADLINE_INVALID', { limitMs: LIMITS.maxDeadlineMs });
  }
  if (order.trace !== undefined && (typeof order.trace !== 'string' || order.trace.length > LIMITS.traceLength)) {
    return errorOutcome('ENVELOPE_INVALID', {
      problem: `trace must be text of at most ${LIMITS.traceLength} characters`,
    });
  }
  return checkUntrusted(order.untrusted);
}

function checkUntrusted(untrusted: JsonObject | undefined): Outcome | undefined {
  if (untrusted === undefined) return undefined;
  const checked = checkArguments(untrusted);
  if (!checked.ok)
    return errorOutcome('ENVELOPE_INVALID', { problem: 'the untrusted context is not a plain JSON object' });
  const bytes = Buffer.byteLength(checked.canonical);
  if (bytes <= LIMITS.untrustedBytes) return undefined;
  return errorOutcome('ARGUMENTS_TOO_LARGE', {
    what: 'bytes of untrusted context',
    is: bytes,
    limit: LIMITS.untrustedBytes,
  });
}

function toEnvelope(
  order: CallOrder,
  key: string,
  { canonical, isAscii }: WrittenArguments,
  input?: WrittenInput,
): Uint8Array {
  const { trace, traceState, parent, untrusted, depth } = order;
  const isPlain =
    isAscii && input === undefined && trace === undefined && parent === undefined && untrusted === undefined;
  if (isPlain && order.head !== undefined) return encodeEnvelopeText(order.head, canonical, key, depth);
  return encodeEnvelope({
    version: ENVELOPE_VERSION,
    session: order.session,
    run: order.run,
    tool: order.tool.tool.id,
    toolDigest: order.tool.tool.digest,
    arguments: canonical,
    key,
    depth,
    ...(trace === undefined ? {} : { trace }),
    ...(trace === undefined || traceState === undefined ? {} : { traceState }),
    ...(parent === undefined ? {} : { parent }),
    // `untrusted` is copied through JSON, so that the envelope has no members that JSON leaves out, such as those that are undefined.
    ...(input?.text === undefined ? {} : { input: input.text }),
    ...(input?.kinds === undefined ? {} : { inputKinds: input.kinds }),
    ...(untrusted === undefined ? {} : { untrusted: JSON.parse(JSON.stringify(untrusted)) as JsonObject }),
  });
}
