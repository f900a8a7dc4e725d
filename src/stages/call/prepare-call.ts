import { ENVELOPE_VERSION, LIMITS, type Envelope } from '../../domain/call.ts';
import type { PublishedTool } from '../../domain/catalog.ts';
import { trouble } from '../../domain/errors.ts';
import { nestedPool, type CallId, type RunId, type SessionId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { AcceptRequest, AdmissionLimits, CallProof } from '../../ports/call-store.ts';
import { checkArguments } from '../../wire/check-arguments.ts';
import { bodyDigest } from '../../wire/digest.ts';
import { encodeEnvelope } from '../../wire/envelope.ts';
import { callIdFor, randomId } from '../../wire/ids.ts';

export interface CallOrder {
  readonly session: SessionId;
  readonly run: RunId;
  readonly proof: CallProof;
  readonly tool: PublishedTool;
  readonly arguments: unknown;
  readonly key?: string | undefined;
  readonly deadlineMs?: number | undefined;
  readonly trace?: string | undefined;
  readonly parent?: CallId | undefined;
  readonly depth: number;
  readonly untrusted?: JsonObject | undefined;
  readonly admission: AdmissionLimits;
}

export type PreparedCall =
  | { readonly kind: 'prepared'; readonly request: AcceptRequest; readonly key: string }
  | { readonly kind: 'refused'; readonly outcome: Outcome };

/** Time to stand in the queue, on top of the tool's own. */
const QUEUE_BUDGET_MS = 60_000;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** Everything that can be refused without the store is refused here, and leaves no trace. */
export function prepareCall(order: CallOrder): PreparedCall {
  const refused = (outcome: Outcome): PreparedCall => ({ kind: 'refused', outcome });
  const checked = checkArguments(order.arguments);
  if (!checked.ok) {
    return refused(
      checked.code === 'ARGUMENTS_TOO_LARGE'
        ? trouble('ARGUMENTS_TOO_LARGE', checked.facts)
        : trouble('ENVELOPE_INVALID', checked.facts),
    );
  }
  const key = order.key ?? randomId();
  if (key.length > LIMITS.keyLength || !PRINTABLE.test(key)) {
    const problem = key.length > LIMITS.keyLength ? 'it is too long' : 'it is empty or has other characters';
    return refused(trouble('KEY_INVALID', { problem }));
  }
  if (order.depth > LIMITS.nestedDepth) return refused(trouble('NESTED_TOO_DEEP', { limit: LIMITS.nestedDepth }));
  const { declaration, pool } = { declaration: order.tool.tool, pool: order.tool.module.pool };
  const deadlineMs = order.deadlineMs ?? declaration.limits.timeoutMs + QUEUE_BUDGET_MS;
  if (!Number.isInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > LIMITS.maxDeadlineMs) {
    return refused(trouble('DEADLINE_INVALID', { limitMs: LIMITS.maxDeadlineMs }));
  }
  if (order.trace !== undefined && (typeof order.trace !== 'string' || order.trace.length > LIMITS.traceLength)) {
    return refused(
      trouble('ENVELOPE_INVALID', { problem: `trace must be text of at most ${LIMITS.traceLength} characters` }),
    );
  }
  const untrusted = checkUntrusted(order.untrusted);
  if (untrusted !== undefined) return refused(untrusted);
  const callId = callIdFor(order.session, key);
  if (callId === undefined) return refused(trouble('SESSION_UNKNOWN', {}));

  const request: AcceptRequest = {
    callId,
    bodyDigest: bodyDigest(declaration.id, checked.canonical),
    session: order.session,
    run: order.run,
    proof: order.proof,
    tool: declaration.id,
    pool: order.proof.kind === 'parent' ? nestedPool(pool) : pool,
    serial: declaration.serial,
    envelope: encodeEnvelope(toEnvelope(order, key, checked.canonical)),
    deadlineMs,
    admission: order.admission,
  };
  return { kind: 'prepared', request, key };
}

function checkUntrusted(untrusted: JsonObject | undefined): Outcome | undefined {
  if (untrusted === undefined) return undefined;
  const checked = checkArguments(untrusted);
  if (!checked.ok) return trouble('ENVELOPE_INVALID', { problem: 'the untrusted context is not a plain JSON object' });
  const bytes = Buffer.byteLength(checked.canonical);
  if (bytes <= LIMITS.untrustedBytes) return undefined;
  return trouble('ARGUMENTS_TOO_LARGE', {
    what: 'bytes of untrusted context',
    is: bytes,
    limit: LIMITS.untrustedBytes,
  });
}

function toEnvelope(order: CallOrder, key: string, canonicalArguments: string): Envelope {
  return {
    version: ENVELOPE_VERSION,
    session: order.session,
    run: order.run,
    tool: order.tool.tool.id,
    toolDigest: order.tool.tool.digest,
    arguments: canonicalArguments,
    key,
    depth: order.depth,
    ...(order.trace === undefined ? {} : { trace: order.trace }),
    ...(order.parent === undefined ? {} : { parent: order.parent }),
    ...(order.untrusted === undefined ? {} : { untrusted: order.untrusted }),
  };
}
