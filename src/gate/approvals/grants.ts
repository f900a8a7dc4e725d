import {
  APPROVAL_LIMITS,
  type ApprovalQuestion,
  type Asker,
  type Grant,
  type GrantId,
  type NewGrant,
} from '../../domain/policy/approval.ts';
import type { JsonObject } from '../../base/json.ts';
import { planeError } from '../../domain/errors/errors.ts';
import type { Identity } from '../../domain/identity/session.ts';
import { argumentsDigest } from './binding.ts';

/** A call that needs an approval unless a grant answers it. */
export interface AskedCall extends Pick<ApprovalQuestion, 'tool' | 'toolDigest' | 'arguments'> {
  readonly identity: Identity;
  readonly askers: readonly Asker[];
}

/** Whether all conditions of a rule hold for these arguments. Both are JSON text. */
type ConditionsHold = (conditions: string, canonicalArguments: string) => boolean;

/**
 * Whether a grant answers every asker of this call. A grant that is known to be revoked answers none. The store's `useGrant` decides about
 * expiry, revocation and the number of uses, in the same step that counts the use.
 */
export function grantMatches(grant: Grant, call: AskedCall, conditionsHold: ConditionsHold = () => false): boolean {
  const { identity, askers } = call;
  if (grant.revoked || grant.tenant !== identity.tenant || grant.subject !== identity.subject) return false;
  if (grant.agent !== undefined && grant.agent !== identity.agent) return false;
  if (grant.tool !== call.tool || grant.toolDigest !== call.toolDigest) return false;
  // Rejects the grant if a rule was changed after the grant was given, if an asker was not part of the question then, or if a hook wants to
  // be asked every time.
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

export interface GrantConditions {
  /** JSON of `ArgumentCondition[]`. */
  readonly conditions: string;
  /** The conditions with marks in place of secrets, for the audit. Absent: the audit names none. */
  readonly shown?: readonly JsonObject[];
}

/** What an approver who decides "allow always" wants to allow. */
export interface GrantOptions {
  /** Default `exact`: only these arguments. */
  readonly arguments?: 'exact' | 'any' | GrantConditions;
  /** Default `false`: only the agent that made the call, no other agent of the subject. */
  readonly anyAgent?: boolean;
  /** Default `APPROVAL_LIMITS.defaultGrantMs`. */
  readonly lifetimeMs?: number;
  /** How often the grant may be used. Default: no limit. */
  readonly uses?: number;
}

/** Makes a grant that is as narrow as the approver asked for. `effective`: the arguments that were allowed, if the approver edited them. */
export function makeGrant(
  id: GrantId,
  question: ApprovalQuestion,
  options: GrantOptions = {},
  effective: string = question.arguments,
): NewGrant {
  const { identity, tool, toolDigest, askers } = question;
  const { arguments: match = 'exact', anyAgent = false, uses } = options;
  return {
    id,
    tenant: identity.tenant,
    subject: identity.subject,
    ...(anyAgent ? {} : { agent: identity.agent }),
    tool,
    toolDigest,
    matches: matcherOf(match, effective),
    askers: askers.map(({ digest }) => digest),
    lifetimeMs: checkLifetime(options.lifetimeMs ?? APPROVAL_LIMITS.defaultGrantMs),
    ...(uses === undefined ? {} : { usesLeft: checkUses(uses) }),
  };
}

function matcherOf(match: NonNullable<GrantOptions['arguments']>, effective: string): Grant['matches'] {
  if (match === 'any') return { kind: 'any' };
  if (match === 'exact') return { kind: 'exact', argumentsDigest: argumentsDigest(effective) };
  return { kind: 'conditions', conditions: match.conditions };
}

function checkLifetime(ms: number): number {
  if (Number.isSafeInteger(ms) && ms >= 1 && ms <= APPROVAL_LIMITS.maxGrantMs) return ms;
  throw planeError('APPROVAL_INVALID', {
    problem: `a grant lives from 1 to ${APPROVAL_LIMITS.maxGrantMs} milliseconds`,
  });
}

function checkUses(uses: number): number {
  if (Number.isSafeInteger(uses) && uses >= 1) return uses;
  throw planeError('APPROVAL_INVALID', { problem: 'a grant has 1 use or more' });
}
