import { errorOutcome } from '../errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { Policy } from '../policy/policy.ts';
import {
  declarationMatches,
  findReferences,
  SECRET_WORD,
  secretMatches,
  type FoundReferences,
  type SecretPlace,
} from './secret-reference.ts';
import type { Identity } from '../identity/session.ts';
import type { ToolDeclaration } from '../tool/tool.ts';

/** The facts of a call that decide which secrets it may use. */
export interface SecretUser {
  readonly tool: Pick<ToolDeclaration, 'id' | 'secrets'>;
  readonly policy: Pick<Policy, 'secrets'>;
  readonly identity: Identity;
  /** Whether a provider of this process knows a secret of this name. */
  readonly knows: (name: string) => boolean;
}

/** Why the call may not use this secret; undefined if it may. A caller that may not use a secret does not learn whether it exists. */
export function refuseSecret(
  name: string,
  place: SecretPlace,
  { tool, policy, identity, knows }: SecretUser,
): Outcome | undefined {
  const about = { tool: tool.id, secret: name };
  if (!declaresSecret(tool, name, place)) return errorOutcome('SECRET_UNDECLARED', about);
  const closed = closedTo(policy, identity, name);
  if (closed !== undefined) return errorOutcome('SECRET_DENIED', { ...about, agent: closed });
  return knows(name) ? undefined : errorOutcome('SECRET_UNKNOWN', about);
}

export function declaresSecret(
  { secrets }: Pick<ToolDeclaration, 'secrets'>,
  name: string,
  place: SecretPlace,
): boolean {
  return secrets?.some((declaration) => declarationMatches(declaration, name, place)) === true;
}

/** The agent that may not use the secret: the caller's own, or one that it acts for. */
function closedTo({ secrets = {} }: Pick<Policy, 'secrets'>, identity: Identity, name: string): string | undefined {
  const open = (agent: string): boolean => {
    const own = Object.hasOwn(secrets, agent) ? secrets[agent]! : [];
    const everybody = Object.hasOwn(secrets, '*') ? secrets['*']! : [];
    return [...own, ...everybody].some((pattern) => secretMatches(pattern, name));
  };
  return [identity.agent, ...(identity.delegators ?? [])].find((agent) => !open(agent));
}

export interface GivenSecrets {
  /** Canonical JSON of the arguments. It is searched for `secret:` first, because most arguments contain no reference. */
  readonly canonical: string;
  readonly arguments: JsonObject;
  readonly setup: JsonObject;
}

/**
 * Whether the call has references to secrets that `refuseSecrets` must check. Most calls have none, and for them this check is very cheap.
 */
export function namesSecrets({ canonical, setup }: Pick<GivenSecrets, 'canonical' | 'setup'>): boolean {
  return canonical.includes(SECRET_WORD) || referencesOfSetup(setup).names.size > 0;
}

/**
 * The first reason why the call may not run; undefined if there is none. The names in the setup were written by the operator. A name there
 * that this tool did not declare is not refused, because another tool of the module may need it; this tool cannot read it.
 */
export function refuseSecrets(user: SecretUser, given: GivenSecrets): Outcome | undefined {
  const inSetup = referencesOfSetup(given.setup).names;
  const inArguments = given.canonical.includes(SECRET_WORD) ? findReferences(given.arguments) : undefined;
  if (inSetup.size === 0 && inArguments === undefined) return undefined;
  if (inArguments?.problem !== undefined) {
    return errorOutcome('SECRET_REFERENCE_INVALID', { tool: user.tool.id, problem: inArguments.problem });
  }
  const own = [...inSetup].filter((name) => declaresSecret(user.tool, name, 'own'));
  return firstRefusal(inArguments?.names ?? [], 'arguments', user) ?? firstRefusal(own, 'own', user);
}

function firstRefusal(names: Iterable<string>, place: SecretPlace, user: SecretUser): Outcome | undefined {
  for (const name of names) {
    const refused = refuseSecret(name, place, user);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** Cache by setup object. A setup never changes, and its entry is released together with it. */
const known = new WeakMap<JsonObject, FoundReferences>();

/** The references in a setup, computed once. A setup lives as long as its module, and every call needs its references. */
export function referencesOfSetup(setup: JsonObject): FoundReferences {
  let found = known.get(setup);
  if (found === undefined) known.set(setup, (found = findReferences(setup)));
  return found;
}
