import type { Catalog } from '../domain/catalog.ts';
import { ERRORS, planeError, PlaneError } from '../domain/errors.ts';
import type { RunId, SessionId } from '../domain/ids.ts';
import { addInjected } from '../domain/injected-tools.ts';
import type { PolicyRecord } from '../domain/policy.ts';
import type { Identity, InjectedGrant, Session } from '../domain/session.ts';
import { buildToolkit, type Toolkit } from '../domain/toolkit.ts';
import type { Store } from '../ports/store.ts';
import type { CatalogView } from './catalog-view.ts';
import { deepFreeze } from '../domain/deep-freeze.ts';
import { ResolutionCache, type Resolution, type ResolutionCacheSettings } from './resolution-cache.ts';
import { shareNext } from '../domain/share-next.ts';

/** What the agent of a session is shown, and what that was worked out from. */
export interface SessionToolkit extends Toolkit {
  readonly catalogDigest: string;
  readonly policyVersion: number;
}

export interface SessionToolkits {
  /** `prove` throws unless the caller has the session's token. */
  find(
    session: { readonly id: SessionId; readonly run: RunId },
    prove: Promise<void>,
    signal?: AbortSignal,
  ): Promise<SessionToolkit>;
  close(): void;
}

export type ToolkitSettings = Partial<Omit<ResolutionCacheSettings, 'isTransient'>>;
type Needs = Pick<Store, 'readSession' | 'readPolicy'>;

/**
 * The toolkit of a session is worked out from what the store says now: whether the session lives, who it is for, the policy and
 * the catalog are asked about on each use. What is kept is the work, for as long as both are the same; nothing is ever stored.
 */
export function createSessionToolkits(
  store: Needs,
  catalogView: Pick<CatalogView, 'current'>,
  settings: ToolkitSettings = {},
): SessionToolkits {
  const full = { timeoutMs: 10_000, failedForMs: 1000, most: 1024, ...settings, isTransient };
  const toolkits = new ResolutionCache<SessionToolkit>(full);
  let policy: PolicyRecord | undefined;
  let catalog: Catalog | undefined;

  const readPolicy = shareNext(async () => {
    const found = await store.readPolicy();
    // The same version stays the same object: what was worked out from it stays known.
    if (found.version !== policy?.version) policy = deepFreeze(found);
  });
  const readCatalog = async (): Promise<void> => void (catalog = await catalogView.current());

  /** Who a session is for never changes, but what is offered to its runs does. */
  const readSession = async (session: SessionId): Promise<Session> => {
    const found = await store.readSession(session);
    if (found === undefined) throw planeError('SESSION_INVALID', { problem: 'there is no such session' });
    return found;
  };

  return {
    async find({ id, run }, prove, signal) {
      const [, session] = await Promise.all([prove, readSession(id), readPolicy(), readCatalog()]);
      const { identity } = session;
      // The newest that anybody read by now, so that it never goes back.
      const [current, record] = [catalog!, policy!];
      toolkits.useVersion(`${current.sequence} ${record.version}`);
      const build = () => ({ value: assemble(current, record, identity), modules: 'all' as const });
      const own = valueOf(await toolkits.resolve(keyOf(identity), build, signal));
      // Offers are the run's own and come and go with it: added behind what is kept, to a copy.
      const offered = session.injected?.filter((grant) => grant.run === run) ?? [];
      return offered.length === 0 ? own : withOffers(own, current, record, identity, offered);
    },
    close() {
      toolkits.close();
    },
  };
}

function assemble(catalog: Catalog, { policy, version }: PolicyRecord, identity: Identity): SessionToolkit {
  const toolkit = buildToolkit(catalog, policy, identity);
  return Object.freeze({
    tools: toolkit.tools,
    get missing() {
      return toolkit.missing;
    },
    catalogDigest: catalog.digest,
    policyVersion: version,
  });
}

function withOffers(
  own: SessionToolkit,
  catalog: Catalog,
  { policy }: PolicyRecord,
  identity: Identity,
  offered: readonly InjectedGrant[],
): SessionToolkit {
  const toolkit = addInjected(own, catalog, policy, identity, offered);
  const { catalogDigest, policyVersion } = own;
  return Object.freeze({
    tools: toolkit.tools,
    get missing() {
      return toolkit.missing;
    },
    catalogDigest,
    policyVersion,
  });
}

/** All that a toolkit depends on besides catalog and policy. */
function keyOf({ tenant, subject, agent, delegators = [] }: Identity): string {
  return JSON.stringify([tenant, subject, agent, delegators]);
}

function valueOf<Value>(resolution: Resolution<Value>): Value {
  if (resolution.kind === 'resolved') return resolution.value;
  const { reason, error } = resolution;
  if (reason === 'closed') throw planeError('CLIENT_CLOSED', {});
  if (reason === 'timed-out') throw planeError('STORE_UNAVAILABLE', { problem: (error as Error).message }, error);
  throw error;
}

/** Trouble that the table says to repeat after a while. */
function isTransient(error: unknown): boolean {
  return error instanceof PlaneError && ERRORS[error.code].retry === 'after-a-while';
}
