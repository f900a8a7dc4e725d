import { keepTrail, type TrailCare } from '../audit/keep-trail.ts';
import { openSigningKey, readTrustedKeys } from '../audit/signing-keys.ts';
import { openSigner } from '../audit/statement-signer.ts';
import type { AuditTrail, StatementMarks } from '../domain/ports/audit-store.ts';
import type { Log } from '../domain/ports/log.ts';
import type { StoreTime } from '../domain/ports/store.ts';
import type { AuditOptions } from '../operate/audit-options.ts';

/** Keeps signing the heads of a trail, and deletes records beyond the retention. Makes a signing key if there is none. */
export function careForTrail(
  trail: AuditTrail,
  store: StatementMarks & StoreTime,
  options: AuditOptions,
  log: Log,
): TrailCare {
  const { keys, trustedKeys } = options;
  const { key, isNew } = openSigningKey(keys);
  // Throws if the folder of audit.trustedKeys does not exist, so that the start fails.
  readTrustedKeys(keys, trustedKeys);
  if (isNew)
    log.info({ key: key.id, folder: keys }, 'audit: a new signing key was made; keep a copy of its public half');
  return keepTrail(
    trail,
    openSigner(keys, { store }),
    () => readTrustedKeys(keys, trustedKeys),
    () => store.now(),
    { signEveryMs: options.signEveryMs, retention: options.retention },
    log,
  );
}
