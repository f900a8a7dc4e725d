import type { PolicyRecord } from '../domain/policy.ts';
import type { PolicySource } from '../ports/plane.ts';
import type { PolicyStore } from '../ports/policy-store.ts';

/** Keeps the newest policy read. Which version is needed comes with every delivery, so nothing depends on being told of a change. */
export function createPolicyCache(store: Pick<PolicyStore, 'readPolicy'>): PolicySource {
  let known: PolicyRecord | undefined;
  let reading: Promise<PolicyRecord> | undefined;
  return {
    async atLeast(version) {
      while (known === undefined || known.version < version) {
        reading ??= store.readPolicy().finally(() => (reading = undefined));
        const read = await reading;
        if (known === undefined || read.version > known.version) known = read;
        // The lanes are told after the record is written; a record behind its lane was replaced.
        if (read.version < version) throw new Error(`policy version ${version} expected, ${read.version} found`);
      }
      return known;
    },
  };
}
