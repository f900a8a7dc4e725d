import { PlaneError } from '../domain/errors/errors.ts';
import type { CatalogWatch } from '../domain/ports/catalog-store.ts';
import type { SessionToolkit } from './session-toolkits.ts';
import { pause } from '../base/pause.ts';

/** Poll interval. A new catalog is noticed at once; a new policy at the next poll. */
const LOOK_EVERY_MS = 2000;
const PAUSE_AFTER_FAILURE_MS = 500;

interface Watch {
  /** Called with undefined when the session has ended; the watch ends then. */
  readonly listener: (toolkit: SessionToolkit | undefined) => void;
  readonly signal: AbortSignal;
}

/** Reads the toolkit again whenever the catalog changes, and every `LOOK_EVERY_MS`. Returns a function that stops the watch. */
export function watchToolkit(
  store: CatalogWatch,
  read: () => Promise<SessionToolkit>,
  { listener, signal }: Watch,
): () => void {
  let watching = true;
  const isWatching = (): boolean => watching && !signal.aborted;

  async function watch(): Promise<void> {
    let last: SessionToolkit | undefined;
    let after = -1;
    while (isWatching()) {
      try {
        const toolkit = await read();
        if (isWatching() && !isSame(toolkit, last)) listener((last = toolkit));
        after = (await store.watchCatalog({ after, waitMs: LOOK_EVERY_MS }))?.sequence ?? after;
      } catch (error) {
        if (error instanceof PlaneError && error.code === 'SESSION_INVALID') {
          if (isWatching()) listener(undefined);
          return;
        }
        await pause(PAUSE_AFTER_FAILURE_MS);
      }
    }
  }

  void watch();
  return () => void (watching = false);
}

/** A run with offered tools gets a new toolkit object on each read. So compare the tools and versions, not the objects. */
function isSame(now: SessionToolkit, before: SessionToolkit | undefined): boolean {
  if (before === undefined || now === before) return now === before;
  const isOfSame = now.catalogDigest === before.catalogDigest && now.policyVersion === before.policyVersion;
  return (
    isOfSame && now.tools.length === before.tools.length && now.tools.every((tool, at) => tool === before.tools[at])
  );
}
