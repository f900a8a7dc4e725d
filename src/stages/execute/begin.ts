import { ended, type Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import type { Identity } from '../../domain/session.ts';
import type { Soon } from '../../domain/soon.ts';
import type { DeliveredCall, Plane, ServedTool } from '../../ports/plane.ts';
import { encode } from '../../wire/message-pack.ts';

export interface BeginningCall {
  readonly delivered: DeliveredCall;
  readonly tool: ServedTool;
  readonly identity: Identity;
}

interface Begun {
  readonly kind: 'begun';
}
const BEGUN: Begun = Object.freeze({ kind: 'begun' });

/**
 * Writes the start mark where it decides something: unsafe tools (never twice), privileged ones (no audit, no run), and every call
 * that was delivered before. The first run of a `read` or `idempotent` tool needs none: losing it means running it again.
 */
export function begin(call: BeginningCall, needs: Pick<Plane, 'store'>): Soon<Begun | Ending> {
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

async function mark(call: BeginningCall, needs: Pick<Plane, 'store'>): Promise<Begun | Ending> {
  const { delivery } = call.delivered;
  const { id, digest, effect, privileged, limits } = call.tool.declaration;
  const intent = privileged ? { intent: encode({ toolDigest: digest, subject: call.identity.subject }) } : {};
  const maxAttempts = effect === 'unsafe' ? 1 : limits.maxAttempts;
  const answer = await needs.store.startCall({ ...delivery, effect, maxAttempts, ...intent });
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
      return ended(trouble('SESSION_ENDED', { ending: answer.ending }));
    case 'may-have-run':
      return ended(trouble('MAY_HAVE_RUN', { tool: id }, { executed: 'unknown' }));
    case 'used-up':
      return ended(trouble('TOOL_POISONOUS', { tool: id, starts: answer.starts }, { executed: 'unknown' }));
  }
}
