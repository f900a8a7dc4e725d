import { ended, type Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import { sessionEnded } from '../../domain/session-ended.ts';
import type { Identity } from '../../domain/session.ts';
import type { Soon } from '../../domain/soon.ts';
import type { DeliveredCall, Plane, ServedTool } from '../../ports/plane.ts';
import { withArguments, withSealed } from '../../wire/audit-detail.ts';
import { sha256 } from '../../wire/digest.ts';
import { encode } from '../../wire/message-pack.ts';

export interface BeginningCall {
  readonly delivered: DeliveredCall & { readonly policyVersion?: number };
  readonly tool: ServedTool;
  readonly identity: Identity;
  /** Canonical JSON of the arguments that will run, which need not be as they were sent. */
  readonly canonical: string;
  readonly sent: { readonly arguments: string; readonly parent?: string };
}

type Needs = Pick<Plane, 'store' | 'redactor' | 'sealer' | 'log'>;

interface Begun {
  readonly kind: 'begun';
}
const BEGUN: Begun = Object.freeze({ kind: 'begun' });

/**
 * Writes the start mark where it decides something: unsafe tools (never twice), privileged ones (no audit, no run), and every call
 * that was delivered before. The first run of a `read` or `idempotent` tool needs none: losing it means running it again. A mark alone
 * starts nothing: the runner asks for the permit of the call right before it enters the tool, also when the answer to this came late.
 */
export function begin(call: BeginningCall, needs: Needs): Soon<Begun | Ending> {
  const { delivery } = call.delivered;
  const { effect, privileged, limits } = call.tool.declaration;
  const mustMark =
    effect === 'unsafe' ||
    privileged ||
    // "Starts in all" is one: the first must be known.
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
  if (intent === NOT_SEALED) return ended(trouble('AUDIT_UNAVAILABLE', { what: 'privileged tools' }));
  const answer = await needs.store.startCall(intent === undefined ? owned : { ...owned, intent });
  switch (answer.kind) {
    case 'started':
      return BEGUN;
    case 'fenced':
      return { kind: 'lost' };
    case 'cancelled':
      return ended(trouble('CALL_CANCELLED', {}));
    case 'expired':
      return ended(trouble('DEADLINE_PASSED', {}));
    case 'session-ended':
      return ended(sessionEnded(answer.ending));
    case 'audit-late':
      return ended(trouble('AUDIT_UNAVAILABLE', { what: 'privileged tools' }));
    case 'may-have-run':
      return ended(trouble('MAY_HAVE_RUN', { tool: id }, { executed: 'unknown' }));
    case 'used-up':
      return ended(trouble('TOOL_POISONOUS', { tool: id, starts: answer.starts }, { executed: 'unknown' }));
  }
}

const NOT_SEALED = Symbol('not sealed');

/** What could not be sealed is not run: no audit, no run. */
function intentOf(call: BeginningCall, needs: Needs): Uint8Array | typeof NOT_SEALED {
  try {
    return encodeIntent(call, needs);
  } catch (error) {
    const { callId } = call.delivered.delivery;
    needs.log.error({ stage: 'execute', callId, error }, 'the record of a privileged start could not be made');
    return NOT_SEALED;
  }
}

/** What is about to run. Committed with the start mark, so that even a worker that dies at once leaves it behind. */
function encodeIntent({ delivered, tool, canonical, sent }: BeginningCall, { redactor, sealer }: Needs): Uint8Array {
  const { policyVersion, delivery } = delivered;
  // A seal is opened against this digest, so it is there also when nothing was changed.
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
