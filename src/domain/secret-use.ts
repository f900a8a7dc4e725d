import { trouble } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Outcome } from './outcome.ts';
import type { Policy } from './policy.ts';
import {
  declarationMatches,
  findReferences,
  SECRET_WORD,
  secretMatches,
  type FoundReferences,
  type SecretPlace,
} from './secret-reference.ts';
import type { Identity } from './session.ts';
import type { ToolDeclaration } from './tool.ts';

/** A call, as far as its secrets go. */
export interface SecretUser {
  readonly tool: Pick<ToolDeclaration, 'id' | 'secrets'>;
  readonly policy: Pick<Policy, 'secrets'>;
  readonly identity: Identity;
  /** Whether somebody here can say what the secret of this name is. */
  readonly knows: (name: string) => boolean;
}

/** Why the call may not use this secret; undefined when it may. Who may not use it does not learn whether it is there. */
export function refuseSecret(
  name: string,
  place: SecretPlace,
  { tool, policy, identity, knows }: SecretUser,
): Outcome | undefined {
  const about = { tool: tool.id, secret: name };
  if (!declaresSecret(tool, name, place)) return trouble('SECRET_UNDECLARED', about);
  const closed = closedTo(policy, identity, name);
  if (closed !== undefined) return trouble('SECRET_DENIED', { ...about, agent: closed });
  return knows(name) ? undefined : trouble('SECRET_UNKNOWN', about);
}

export function declaresSecret(
  { secrets }: Pick<ToolDeclaration, 'secrets'>,
  name: string,
  place: SecretPlace,
): boolean {
  return secrets?.some((declaration) => declarationMatches(declaration, name, place)) === true;
}

/** The agent that may not use it: this one, or one that it acts for. */
function closedTo({ secrets = {} }: Pick<Policy, 'secrets'>, identity: Identity, name: string): string | undefined {
  const open = (agent: string): boolean => {
    const own = Object.hasOwn(secrets, agent) ? secrets[agent]! : [];
    const everybody = Object.hasOwn(secrets, '*') ? secrets['*']! : [];
    return [...own, ...everybody].some((pattern) => secretMatches(pattern, name));
  };
  return [identity.agent, ...(identity.delegators ?? [])].find((agent) => !open(agent));
}

export interface GivenSecrets {
  /** Canonical JSON of the arguments: looked at first, as most hold no reference. */
  readonly canonical: string;
  readonly arguments: JsonObject;
  readonly setup: JsonObject;
}

/** Whether there is anything to refuse. Most calls have nothing to do with secrets, and this costs them next to nothing. */
export function namesSecrets({ canonical, setup }: Pick<GivenSecrets, 'canonical' | 'setup'>): boolean {
  return canonical.includes(SECRET_WORD) || referencesOfSetup(setup).names.size > 0;
}

/**
 * The first reason why the call may not run. Names in the setup are the operator's: those that the tool did not declare stay
 * out of its reach, as the other tools of its module may need them.
 */
export function refuseSecrets(user: SecretUser, given: GivenSecrets): Outcome | undefined {
  const inSetup = referencesOfSetup(given.setup).names;
  const inArguments = given.canonical.includes(SECRET_WORD) ? findReferences(given.arguments) : undefined;
  if (inSetup.size === 0 && inArguments === undefined) return undefined;
  if (inArguments?.problem !== undefined) {
    return trouble('SECRET_REFERENCE_INVALID', { tool: user.tool.id, problem: inArguments.problem });
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

const known = new WeakMap<JsonObject, FoundReferences>();

/** A setup lives as long as its module and is asked about by every call. */
export function referencesOfSetup(setup: JsonObject): FoundReferences {
  let found = known.get(setup);
  if (found === undefined) known.set(setup, (found = findReferences(setup)));
  return found;
}
