import {
  APPROVAL_LIMITS,
  type ApprovalQuestion,
  type Asker,
  type Grant,
  type GrantId,
  type NewGrant,
} from '../../domain/approval.ts';
import { planeError } from '../../domain/errors.ts';
import type { Identity } from '../../domain/session.ts';
import { argumentsDigest } from './binding.ts';

/** A call that somebody has to be asked about, unless a grant answers. */
export interface AskedCall extends Pick<ApprovalQuestion, 'tool' | 'toolDigest' | 'arguments'> {
  readonly identity: Identity;
  readonly askers: readonly Asker[];
}

/** Whether all conditions of a rule hold for these arguments, both as JSON text. */
type ConditionsHold = (conditions: string, canonicalArguments: string) => boolean;

/**
 * Whether a grant answers everybody who asks about this call. Time, revocation and the count of its uses are the store's: `useGrant`
 * decides on them in the step that counts.
 */
export function grantMatches(grant: Grant, call: AskedCall, conditionsHold: ConditionsHold = () => false): boolean {
  const { identity, askers } = call;
  if (grant.revoked || grant.tenant !== identity.tenant || grant.subject !== identity.subject) return false;
  if (grant.agent !== undefined && grant.agent !== identity.agent) return false;
  if (grant.tool !== call.tool || grant.toolDigest !== call.toolDigest) return false;
  // A rule that was changed since, a rule the grant knows nothing of, or a hook that wants to be asked every time.
  if (!askers.every(({ digest, grantable }) => grantable && grant.askers.includes(digest))) return false;
  switch (grant.matches.kind) {
    case 'any':
      return true;
    case 'exact':
      return grant.matches.argumentsDigest === argumentsDigest(call.arguments);
    case 'conditions':
      return conditionsHold(grant.matches.conditions, call.arguments);
  }
}

/** What an approver who says "always" means by it. */
export interface GrantWish {
  /** Default `exact`: these arguments and no others. */
  readonly arguments?: 'exact' | 'any' | { readonly conditions: string };
  /** Default: the agent that asked, and no other of the subject's. */
  readonly anyAgent?: boolean;
  /** Default `APPROVAL_LIMITS.defaultGrantMs`. */
  readonly lifetimeMs?: number;
  /** Default: as often as it is needed. */
  readonly uses?: number;
}

/** A grant as narrow as it was wished for. `effective` are the arguments that were allowed, if they were edited. */
export function makeGrant(
  id: GrantId,
  question: ApprovalQuestion,
  wish: GrantWish = {},
  effective: string = question.arguments,
): NewGrant {
  const { identity, tool, toolDigest, askers } = question;
  const { arguments: match = 'exact', anyAgent = false, uses } = wish;
  return {
    id,
    tenant: identity.tenant,
    subject: identity.subject,
    ...(anyAgent ? {} : { agent: identity.agent }),
    tool,
    toolDigest,
    matches: matcherOf(match, effective),
    askers: askers.map(({ digest }) => digest),
    lifetimeMs: checkLifetime(wish.lifetimeMs ?? APPROVAL_LIMITS.defaultGrantMs),
    ...(uses === undefined ? {} : { usesLeft: checkUses(uses) }),
  };
}

function matcherOf(match: NonNullable<GrantWish['arguments']>, effective: string): Grant['matches'] {
  if (match === 'any') return { kind: 'any' };
  if (match === 'exact') return { kind: 'exact', argumentsDigest: argumentsDigest(effective) };
  return { kind: 'conditions', conditions: match.conditions };
}

function checkLifetime(ms: number): number {
  if (Number.isSafeInteger(ms) && ms >= 1 && ms <= APPROVAL_LIMITS.mostGrantMs) return ms;
  throw planeError('APPROVAL_INVALID', {
    problem: `a grant lives from 1 to ${APPROVAL_LIMITS.mostGrantMs} milliseconds`,
  });
}

function checkUses(uses: number): number {
  if (Number.isSafeInteger(uses) && uses >= 1) return uses;
  throw planeError('APPROVAL_INVALID', { problem: 'a grant has 1 use or more' });
}
