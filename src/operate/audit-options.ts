import { join } from 'node:path';
import type { Retention } from '../audit/retain-trail.ts';
import type { Config } from '../config/config-schema.ts';
import type { AuditBounds } from '../domain/ports/audit-store.ts';

export interface AuditOptions {
  /** Absent: the store keeps its audit itself. */
  readonly sink?: SinkOptions;
  readonly keys: string;
  /** Folder with public keys of other gateways. */
  readonly trustedKeys?: string;
  readonly signEveryMs: number;
  readonly retention: Retention;
  readonly bounds: AuditBounds;
}

export type SinkOptions =
  | { readonly kind: 'postgres'; readonly url: string; readonly password?: string; readonly schema: string }
  | { readonly kind: 'sqlite'; readonly file: string };

export function auditOptionsOf(config: Config, passwordOfFile?: string): AuditOptions {
  const { audit, folder } = config;
  const sink = sinkOf(audit, passwordOfFile);
  return {
    ...(sink === undefined ? {} : { sink }),
    keys: audit.keys ?? join(folder, 'audit-keys'),
    ...(audit.trustedKeys === undefined ? {} : { trustedKeys: audit.trustedKeys }),
    signEveryMs: audit.signEveryMs,
    retention: { maxAgeMs: audit.maxAgeMs, maxBytes: audit.maxBytes },
    bounds: auditBoundsOf(config),
  };
}

function sinkOf({ sink, file, postgres }: Config['audit'], passwordOfFile?: string): SinkOptions | undefined {
  if (sink === undefined) return undefined;
  if (sink === 'sqlite') return { kind: 'sqlite', file: file! };
  const { url, schema, password = passwordOfFile } = postgres;
  return { kind: 'postgres', url: url!, schema, ...(password === undefined ? {} : { password }) };
}

const NEVER = { records: Number.MAX_SAFE_INTEGER, lateMs: Number.MAX_SAFE_INTEGER };

export function auditBoundsOf({ audit }: Config): AuditBounds {
  return { privileged: audit.privileged, everything: audit.whenLate === 'refuse' ? audit.everything : NEVER };
}
