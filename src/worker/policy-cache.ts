import { planeError } from '../domain/errors/errors.ts';
import type { PolicyRecord } from '../domain/policy/policy.ts';
import type { PolicySource } from '../domain/ports/plane.ts';
import type { PolicyReader, PolicyWatch } from '../domain/ports/policy-store.ts';

/**
 * How long a cached policy is used without checking its record. The version that comes with a delivery is a field of its lane, and on Redis
 * every client's password can write it. Only operators can write the policy record, so that is checked too. The attack: a client that sets
 * the lane's version back could hide a pause, but for no longer than this.
 */
const CONFIRMED_FOR_MS = 1000;

/** Keeps the newest policy read. The required version comes with every delivery, so no change notification is needed. */
export function createPolicyCache(
  store: PolicyReader & PolicyWatch,
  now: () => number = () => performance.now(),
): PolicySource {
  let known: PolicyRecord | undefined;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<PolicyRecord> | undefined;
  let confirming: Promise<PolicyRecord> | undefined;

  function keep(found: PolicyRecord | undefined, askedAt: number): void {
    if (found !== undefined && (known === undefined || found.version > known.version)) known = found;
    confirmedAt = Math.max(confirmedAt, askedAt);
  }

  /** Reads the record. Callers that arrive while a read is in progress share its result. */
  function read(): Promise<PolicyRecord> {
    reading ??= store.readPolicy().finally(() => (reading = undefined));
    return reading;
  }

  async function readUntil(version: number): Promise<PolicyRecord> {
    // At most two reads: one that is already in progress may have started before this version was written, but the next one has not.
    for (let attempt = 0; attempt < 2 && (known === undefined || known.version < version); attempt += 1) {
      const isOwn = reading === undefined;
      const askedAt = now();
      keep(await read(), isOwn ? askedAt : Number.NEGATIVE_INFINITY);
    }
    if (known === undefined || known.version < version) {
      // The record is written before the lanes get its version. A record older than its lane's version means that the store was replaced.
      const found = `policy version ${known?.version ?? 0}`;
      throw planeError('STORE_REPLACED', { expected: `policy version ${version}`, found });
    }
    return known;
  }

  function confirm(after: PolicyRecord): Promise<PolicyRecord> {
    const askedAt = now();
    confirming ??= store
      .readNewerPolicy({ after: after.version })
      .then((newer) => {
        keep(newer, askedAt);
        return known ?? after;
      })
      .finally(() => (confirming = undefined));
    return confirming;
  }

  return {
    atLeast(version) {
      if (known === undefined || known.version < version) return readUntil(version);
      return now() - confirmedAt < CONFIRMED_FOR_MS ? known : confirm(known);
    },
  };
}
