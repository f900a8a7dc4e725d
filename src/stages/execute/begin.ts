import { ended, type Ending } from '../../domain/call/ending.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { sessionEnded } from '../../domain/identity/session-ended.ts';
import type { Identity } from '../../domain/identity/session.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { DeliveredCall, Plane, ServedTool } from '../../domain/ports/plane.ts';
import { withArguments, withSealed } from '../../domain/audit/audit-detail.ts';
import { sha256 } from '../../base/sha256.ts';
import { encode } from '../../base/message-pack.ts';

export interface BeginningCall {
  readonly delivered: DeliveredCall & { readonly policyVersion?: number };
  readonly tool: ServedTool;
  readonly identity: Identity;
  /** Canonical JSON of the arguments that will run. They may differ from the sent ones, for example after a hook changed them. */
  readonly canonical: string;
  readonly sent: { readonly arguments: string; readonly parent?: string };
}

type Needs = Pick<Plane, 'store' | 'redactor' | 'sealer' | 'log'>;

interface Begun {
  readonly kind: 'begun';
}
const BEGUN: Begun = Object.freeze({ kind: 'begun' });

/**
 * Writes the start mark, the note in the store that the tool is about to run, where it is needed: for unsafe tools (never run twice), for
 * privileged ones (no audit, no run), for tools with only one attempt, and for every call that was delivered or parked before. The first
 * run of any other `read` or `idempotent` tool needs no mark: if its worker is lost, it is run again. The mark alone starts nothing: the
 * runner checks the permit of the call right before it starts the tool, also when the store answered late.
 */
export function begin(call: BeginningCall, needs: Needs): MaybePromise<Begun | Ending> {
  const { delivery } = call.delivered;
  const { effect, privileged, limits } = call.tool.declaration;
  const mustMark =
    effect === 'unsafe' ||
    privileged ||
    // Only one start is allowed in total, so the first one has to be recorded.
    limits.maxAttempts === 1 ||
    delivery.recovered !== undefined ||
    delivery.resumedWith !== undefined;
  return mustMark ? mark(call, needs) : BEGUN;
}

async function mark(call: BeginningCall, needs: Needs): Promise<Begun | Ending> {
  const { callId, pool, workerId, entryId, fence } = call.delivered.delivery;
  const { id, effect, privileged, limits } = call.tool.declaration;
  const maxAttempts = effect === 'unsafe' ? 1 : limits.maxAttempts;
  const owned = { callId, pool, workerId, entryId, fence, effect, maxAttempts };
  const intent = privileged ? intentOf(call, needs) : undefined;
  if (intent === NOT_SEALED) return ended(errorOutcome('AUDIT_UNAVAILABLE', { what: 'privileged tools' }));
  const answer = await needs.store.startCall(intent === undefined ? owned : { ...owned, intent });
  switch (answer.kind) {
    case 'started':
      return BEGUN;
    case 'fenced':
      return { kind: 'lost' };
    case 'cancelled':
      return ended(errorOutcome('CALL_CANCELLED', {}));
    case 'expired':
      return ended(errorOutcome('DEADLINE_PASSED', {}));
    case 'session-ended':
      return ended(sessionEnded(answer.ending));
    case 'audit-late':
      return ended(errorOutcome('AUDIT_UNAVAILABLE', { what: 'privileged tools' }));
    case 'may-have-run':
      return ended(errorOutcome('MAY_HAVE_RUN', { tool: id }, { executed: 'unknown' }));
    case 'used-up':
      return ended(errorOutcome('TOOL_POISONOUS', { tool: id, starts: answer.starts }, { executed: 'unknown' }));
  }
}

const NOT_SEALED = Symbol('not sealed');

/** Returns the audit record of a privileged start. If it cannot be encoded or sealed, the call is not run: no audit, no run. */
function intentOf(call: BeginningCall, needs: Needs): Uint8Array | typeof NOT_SEALED {
  try {
    return encodeIntent(call, needs);
  } catch (error) {
    const { callId } = call.delivered.delivery;
    needs.log.error({ stage: 'execute', callId, error }, 'the record of a privileged start could not be made');
    return NOT_SEALED;
  }
}

/**
 * The audit record of what is about to run. The store writes it in one step with the start mark, so that it exists even if the worker dies
 * right after.
 */
function encodeIntent({ delivered, tool, canonical, sent }: BeginningCall, { redactor, sealer }: Needs): Uint8Array {
  const { policyVersion, delivery } = delivered;
  // A seal can be opened only with this digest, so a record with a seal has it even if the arguments were not changed.
  const isDigested = sealer !== undefined || canonical !== sent.arguments;
  const digest = isDigested ? sha256(canonical) : '';
  const facts = encode({
    toolDigest: tool.declaration.digest,
    ...(policyVersion === undefined ? {} : { policyVersion }),
    ...(sent.parent === undefined ? {} : { parent: sent.parent }),
    ...(isDigested ? { effectiveDigest: digest } : {}),
  });
  const shown = redactor === undefined ? facts : withArguments(facts, redactor.arguments(canonical, tool.declaration));
  if (sealer === undefined) return shown;
  return withSealed(shown, sealer.seal(canonical, { callId: delivery.callId, tool: tool.declaration.id, digest }));
}
