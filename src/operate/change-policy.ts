import type { Administered } from '../domain/identity/actor.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { Policy, PolicyRecord } from '../domain/policy/policy.ts';
import type { PolicyWriter } from '../domain/ports/policy-store.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { pause } from '../base/pause.ts';

/** Max attempts. An attempt fails only if another writer succeeded, so with up to this many writers at once each one succeeds. */
const MAX_TRIES = 100;
const MAX_PAUSE_MS = 50;

/** Reads, changes and writes the policy. Retries when another writer was faster. Writes nothing if nothing changes. */
export async function changePolicy(
  store: PolicyWriter,
  who: Administered,
  change: (current: PolicyRecord) => Policy,
): Promise<PolicyRecord & { readonly changed: boolean }> {
  let current = await store.readPolicy();
  for (let attempt = 1; ; attempt += 1) {
    const policy = change(current);
    if (canonicalJson(policy) === canonicalJson(current.policy)) return { ...current, changed: false };
    const written = await store.writePolicy({ ...who, expectedVersion: current.version, policy });
    if (written.kind === 'written') return { version: written.version, policy, changed: true };
    if (attempt === MAX_TRIES) {
      throw planeError('POLICY_CONFLICT', { expected: current.version, found: written.version });
    }
    // Wait for a random time; otherwise the same writers would collide again.
    await pause(Math.random() * Math.min(attempt * 2, MAX_PAUSE_MS));
    current = await store.readPolicy();
  }
}
