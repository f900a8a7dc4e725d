import { resolve } from 'node:path';
import { indexTools } from '../domain/tool/catalog.ts';
import { errorOutcome } from '../domain/errors/errors.ts';
import type { CallRecord } from '../domain/call/call.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import type { CallCancellation, CallList } from '../domain/ports/call-store.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import { adoptEmbeddedStore, inspectEmbeddedAdoption, makeStoreAnew } from '../stores/embedded/backup-store.ts';
import { adoptRedisStore, inspectAdoption, type Adoption } from '../stores/redis/adopt-store.ts';
import { withServer } from '../stores/redis/with-server.ts';
import { encode } from '../base/message-pack.ts';
import { encodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { loadLibraries, type LibraryState } from './load-libraries.ts';
import type { StoreOptions } from './open-store.ts';

export type { Adoption } from '../stores/redis/adopt-store.ts';

export interface Adopted {
  readonly incarnation: string;
  /** The number of calls of unsafe tools that were ended as `indeterminate`, by tool. */
  readonly ended: Readonly<Record<string, number>>;
  /** Redis: the function libraries, and whether they had to be loaded. */
  readonly libraries: readonly LibraryState[];
}

type Unfinished = CallList & CallCancellation & CatalogReader;

const folderOf = (options: { readonly folder?: string }): string => resolve(options.folder ?? DEFAULT_FOLDER);

/** Reports what data exists and what is known to be missing. Changes nothing. */
export function inspectAdoptionOf(options: StoreOptions): Promise<Adoption> {
  if (options.store === 'redis') return inspectAdoption(options.redis);
  return inspectEmbeddedAdoption(folderOf(options));
}

/**
 * Makes the existing data the store from now on. If the data is an older copy, unfinished calls of unsafe tools may have run after the copy
 * was made. They are ended as `indeterminate` and not run again, unless `rerun` is set.
 */
export async function adoptStore(
  options: StoreOptions,
  known: Adoption,
  { rerun, retentionMs }: { readonly rerun: boolean; readonly retentionMs: number },
): Promise<Adopted> {
  const mayRunAgain = rerun || known.kind !== 'older';
  const meanwhile = async (store: Unfinished): Promise<Adopted['ended']> =>
    mayRunAgain ? {} : endUnfinished(store, retentionMs);
  if (options.store === 'embedded') {
    if (known.kind === 'empty') await makeStoreAnew(folderOf(options));
    const { incarnation, result } = await adoptEmbeddedStore(folderOf(options), meanwhile);
    return { incarnation, ended: result, libraries: [] };
  }
  const libraries = await withServer(options.redis, loadLibraries);
  const { incarnation, result } = await adoptRedisStore(options.redis, meanwhile);
  return { incarnation, ended: result, libraries };
}

/** A limit above the number of calls that any lane holds. */
const ALL = 1_000_000;

async function endUnfinished(store: Unfinished, retentionMs: number): Promise<Adopted['ended']> {
  const tools = indexTools(await store.readCatalog());
  // A tool that is no longer published counts as unsafe, because its effect is unknown.
  const isUnsafe = ({ tool }: CallRecord): boolean => (tools.get(tool)?.tool.effect ?? 'unsafe') === 'unsafe';
  const ended: Record<string, number> = {};
  for (const call of await store.listCalls({ limit: ALL })) {
    // A running call is recovered as after any crash, according to its effect.
    if (call.state === 'running' || !isUnsafe(call)) continue;
    const outcome = encodeOutcome(errorOutcome('STORE_WENT_BACK', { tool: call.tool }, { executed: 'unknown' }));
    const answer = await store.cancelCall({
      callId: call.callId,
      outcome,
      outcomeIfHeld: outcome,
      outcomeIfParked: outcome,
      audit: encode({ outcome: 'indeterminate', by: 'adoption' }),
      retentionMs,
    });
    if (answer === 'cancelled') ended[call.tool] = (ended[call.tool] ?? 0) + 1;
  }
  return ended;
}
