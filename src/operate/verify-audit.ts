import type { ExpectedTrail } from '../audit/expected-trail.ts';
import { keyAgeMs, readTrustedKeys } from '../audit/signing-keys.ts';
import { readMarks } from '../audit/statement-marks.ts';
import { verifyTrail, type KnownLength, type Verification } from '../audit/verify-trail.ts';
import type { AuditStates, AuditTrail, MarkReader } from '../domain/ports/audit-store.ts';
import type { StoreTime } from '../domain/ports/store.ts';
import type { AuditOptions } from './audit-options.ts';

/** Compares a trail with everything that is known outside of it: the keys, the marks, and the store if it can be reached. */
export async function verifyAudit(
  trail: AuditTrail,
  store: (AuditStates & MarkReader & StoreTime) | undefined,
  { keys, trustedKeys, signEveryMs }: Pick<AuditOptions, 'keys' | 'trustedKeys' | 'signEveryMs'>,
  expected?: ExpectedTrail,
): Promise<Verification> {
  // Read these before the trail. Each of them is written after its record is in the trail, so an intact trail is never behind them.
  const marks = await readMarks(keys, store);
  const known = await knownLengths(store);
  const now = store === undefined ? Date.now() : await store.now();
  const age = keyAgeMs(keys);
  const unsigned = { now, maxMs: 2 * signEveryMs, ...(age === undefined ? {} : { keyAgeMs: age }) };
  const checks = { marks, unsigned, ...(expected === undefined ? {} : { expected }) };
  return verifyTrail(trail, readTrustedKeys(keys, trustedKeys), known, checks);
}

/** The lengths of the audit lanes according to the store itself. A trail with fewer records was cut short. @internal */
export async function knownLengths(store: AuditStates | undefined): Promise<KnownLength[]> {
  if (store === undefined) return [];
  const known: KnownLength[] = [];
  for (const lane of store.auditLanes) {
    const { store: id, sequence, drained, waiting, surplus, alarm, gap } = await store.auditState({ lane });
    known.push({
      store: id,
      lane,
      sequence: drained,
      missing: sequence + surplus - drained - waiting,
      ...(alarm === undefined || gap !== undefined ? {} : { alarm }),
    });
  }
  return known;
}
