import { declaredNames } from '../../domain/identity/agent.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { guessName, type NearNames } from '../../base/settings/describe-issue.ts';
import type { SettingsFile } from '../../base/settings/read-settings-file.ts';

/** A setting that is valid but probably a mistake, and its place in the policy. */
export interface PolicyWarning {
  readonly path: readonly (string | number)[];
  /** Set if the place is this key of the member at `path`, and not its value. */
  readonly key?: string;
  readonly text: string;
}

/** The part of a policy file that knows places. */
export interface PlacedPolicy {
  readonly partsSet: readonly string[];
  readonly placeOf: SettingsFile['placeOf'];
}

/** Parts that a file always replaces, so that they are always its own. */
const REPLACED: readonly unknown[] = ['roles', 'permissions'];

/** The warning as text. It begins with its place if it is about a part that the file sets. */
export function sayWarning({ path, key, text }: PolicyWarning, file?: PlacedPolicy): string {
  const part = path[0] ?? key;
  const isOfFile = REPLACED.includes(part) || file?.partsSet.includes(String(part)) === true;
  return file !== undefined && isOfFile ? `${file.placeOf(path, key)}: ${text}` : text;
}

/**
 * Finds agents in pauses, in `unattended` and in `secrets` that are not declared. A misspelt name in a pause stops no call. If the policy declares no agents, every name may be one.
 */
export function findNameWarnings(policy: Policy, near: NearNames): PolicyWarning[] {
  const known = declaredNames(policy);
  if (known === undefined) return [];
  const { paused, unattended = [], secrets = {} } = policy;
  const listed = [
    ...(paused.agents ?? []).map((name, index) => ({
      where: 'paused.agents',
      name,
      path: ['paused', 'agents', index],
    })),
    ...unattended.map((name, index) => ({ where: 'unattended', name, path: ['unattended', index] })),
    ...Object.keys(secrets).map((name) => ({ where: 'secrets', name, path: ['secrets'], key: name })),
  ];
  return listed
    .filter(({ name }) => name !== '*' && !known.includes(name))
    .map(({ where, name, ...place }) => ({
      ...place,
      text: `${where} names ${name}, which is no declared agent${guessName(name, known, near)}`,
    }));
}
