import { planeError } from '../domain/errors.ts';
import type { PolicyRecord } from '../domain/policy.ts';
import type { PolicySource } from '../ports/plane.ts';
import type { PolicyStore } from '../ports/policy-store.ts';

/** Keeps the newest policy read. Which version is needed comes with every delivery, so nothing depends on being told of a change. */
export function createPolicyCache(store: Pick<PolicyStore, 'readPolicy'>): PolicySource {
  let known: PolicyRecord | undefined;
  let reading: Promise<PolicyRecord> | undefined;

  /** Shared by whoever comes while it is under way. */
  function read(): Promise<PolicyRecord> {
    reading ??= store.readPolicy().finally(() => (reading = undefined));
    return reading;
  }

  async function readUntil(version: number): Promise<PolicyRecord> {
    // A read that was under way may have begun before the version was written; the next one has not.
    for (let attempt = 0; attempt < 2 && (known === undefined || known.version < version); attempt += 1) {
      const found = await read();
      if (known === undefined || found.version > known.version) known = found;
    }
    if (known === undefined || known.version < version) {
      // The lanes are told after the record is written; a record behind its lane was replaced.
      const found = `policy version ${known?.version ?? 0}`;
      throw planeError('STORE_REPLACED', { expected: `policy version ${version}`, found });
    }
    return known;
  }

  return {
    atLeast: (version) => (known !== undefined && known.version >= version ? known : readUntil(version)),
  };
}
