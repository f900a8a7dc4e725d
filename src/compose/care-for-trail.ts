import { keepTrail, type TrailCare } from '../audit/keep-trail.ts';
import { openSigningKey } from '../audit/signing-keys.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { AuditOptions } from './audit-options.ts';

/** Signs and retains. The key is read each time, so that one that was rotated is used without a restart. */
export function careForTrail(trail: AuditTrail, store: Store, options: AuditOptions, log: Log): TrailCare {
  const { key, isNew } = openSigningKey(options.keys);
  if (isNew)
    log.info(
      { key: key.id, folder: options.keys },
      'audit: a new signing key was made; keep a copy of its public half',
    );
  return keepTrail(
    trail,
    () => openSigningKey(options.keys).key,
    () => store.now(),
    { signEveryMs: options.signEveryMs, retention: options.retention },
    log,
  );
}
