import type { SigningKey } from '../audit/signing-keys.ts';
import { openSigner, type StatementSigner } from '../audit/statement-signer.ts';
import { auditOptionsOf, type AuditOptions } from '../operate/audit-options.ts';
import { openSink } from '../operate/open-sink.ts';
import { openStore } from '../operate/open-store.ts';
import type { Config } from '../config/config-schema.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { keepsTrail, type AnyStore } from '../domain/ports/store.ts';
import type { CommandContext } from './command-context.ts';
import { readSecretFile } from './read-secret-file.ts';
import { commandStoreOptions, refuseMissingStore } from './with-store.ts';

export interface OpenTrail {
  readonly trail: AuditTrail;
  readonly audit: AuditOptions;
  /** The store, if it was needed and can be reached. A sink can be read without it. */
  readonly store: AnyStore | undefined;
}

export function auditPasswordOf({ audit }: Config): string | undefined {
  const { passwordFile } = audit.postgres;
  return passwordFile === undefined ? undefined : readSecretFile(passwordFile).trim();
}

/** Opens what keeps the audit: the embedded store itself, or the sink of a Redis store. */
export async function withTrail<Result>(
  context: CommandContext,
  use: (open: OpenTrail) => Promise<Result>,
  needs: { readonly store?: boolean } = {},
): Promise<Result> {
  const loaded = context.loadConfig();
  const audit = auditOptionsOf(loaded.config, auditPasswordOf(loaded.config));
  const isKept = loaded.config.store === 'embedded';
  if (!isKept && audit.sink === undefined) throw planeError('AUDIT_SINK_MISSING', {});
  const store = isKept || needs.store === true ? await reach(loaded, isKept, context) : undefined;
  try {
    if (store !== undefined && keepsTrail(store)) return await use({ trail: store, audit, store });
    const sink = await openSink(audit.sink!);
    try {
      return await use({ trail: sink, audit, store });
    } finally {
      await sink.close();
    }
  } finally {
    await store?.close();
  }
}

/** Uses the trail of a store that is already open. The trail is undefined if a Redis store has no audit sink configured. */
export async function withTrailOf<Result>(
  store: AnyStore,
  config: Config,
  use: (trail: AuditTrail | undefined) => Promise<Result>,
): Promise<Result> {
  if (keepsTrail(store)) return use(store);
  const { sink: options } = auditOptionsOf(config, auditPasswordOf(config));
  if (options === undefined) return use(undefined);
  const sink = await openSink(options);
  try {
    return await use(sink);
  } finally {
    await sink.close();
  }
}

/**
 * Creates a signer like that of the process that maintains the trail. On Redis an operator may read the store's mark but not write it. The
 * gateway moves the mark with its next statement. Until then the mark is behind the trail, which is valid.
 */
export function signerOf({ trail, audit, store }: OpenTrail, key?: SigningKey): StatementSigner {
  const readOnly = store && { statementMark: () => store.statementMark(), noteStatement: () => Promise.resolve() };
  return openSigner(audit.keys, { store: trail === store ? store : readOnly, ...(key === undefined ? {} : { key }) });
}

async function reach(
  loaded: Parameters<typeof commandStoreOptions>[0],
  isNeeded: boolean,
  { terminal }: CommandContext,
): Promise<AnyStore | undefined> {
  try {
    const options = commandStoreOptions(loaded);
    await refuseMissingStore(options);
    return await openStore(options);
  } catch (error) {
    if (isNeeded) throw error;
    terminal.warn(`the store cannot be asked how much it has handed over: ${(error as Error).message}`);
    return undefined;
  }
}
