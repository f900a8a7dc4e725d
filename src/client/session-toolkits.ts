import { EMPTY_CATALOG, type Catalog, type PublishedTool } from '../domain/tool/catalog.ts';
import { changedModules } from '../domain/tool/changed-modules.ts';
import { ERRORS, planeError, PlaneError } from '../domain/errors/errors.ts';
import type { RunId, SessionId } from '../domain/identity/ids.ts';
import { addInjected } from '../domain/tool/injected-tools.ts';
import type { PolicyRecord } from '../domain/policy/policy.ts';
import type { Identity, InjectedGrant, Session } from '../domain/identity/session.ts';
import { buildToolkit, explainMissing, findSurfaces, modulesOfToolkit, type Toolkit } from '../domain/tool/toolkit.ts';
import type { PolicyWatch } from '../domain/ports/policy-store.ts';
import type { SessionReader } from '../domain/ports/session-store.ts';
import type { CatalogView } from './catalog-view.ts';
import { deepFreeze } from '../base/deep-freeze.ts';
import { ResolutionCache, type Resolution, type ResolutionCacheSettings } from './resolution-cache.ts';
import { shareNext } from '../domain/call/share-next.ts';

/** The toolkit shown to the agent of a session, with the catalog and policy versions it was built from. */
export interface SessionToolkit extends Toolkit {
  readonly catalogDigest: string;
  readonly policyVersion: number;
  /** Resources and prompts that the agent may use. Computed on first read. */
  readonly surfaces: readonly PublishedTool[];
}

export interface SessionToolkits {
  /** `prove` rejects unless the caller has the session's token. */
  find(
    session: { readonly id: SessionId; readonly run: RunId },
    prove: Promise<void>,
    signal?: AbortSignal,
  ): Promise<SessionToolkit>;
  close(): void;
}

export type ToolkitSettings = Partial<Omit<ResolutionCacheSettings, 'isTransient'>>;
type Needs = SessionReader & PolicyWatch;

/** The cached part of a toolkit, per agent and subject. The other parts are cheap or computed when first read. */
interface Found {
  readonly tools: SessionToolkit['tools'];
}

interface Shown {
  readonly catalog: Catalog;
  readonly record: PolicyRecord;
  readonly toolkit: SessionToolkit;
}

/**
 * Builds the toolkits of sessions. Each use asks the store whether the session is live, who it is for, and whether policy and catalog
 * changed. Only the list of tools is cached, until the policy or one of its modules changes. Nothing is written to the store.
 */
export function createSessionToolkits(
  store: Needs,
  catalogView: Pick<CatalogView, 'current'>,
  settings: ToolkitSettings = {},
): SessionToolkits {
  const full = { timeoutMs: 10_000, failedForMs: 1000, maxEntries: 1024, ...settings, isTransient };
  const found = new ResolutionCache<Found>(full);
  const shown = new WeakMap<Found, Shown>();
  let policy: PolicyRecord | undefined;
  let catalog = EMPTY_CATALOG;

  const readPolicy = shareNext(async () => {
    const newer = await store.readNewerPolicy({ after: policy?.version ?? -1 });
    if (newer === undefined) return;
    policy = deepFreeze(newer);
    found.useVersion(String(newer.version));
  });

  const readCatalog = async (): Promise<void> => {
    const current = await catalogView.current();
    if (current.sequence <= catalog.sequence) return;
    for (const module of changedModules(catalog, current)) found.invalidate(module);
    catalog = current;
  };

  /** Reads the session each time. Its identity never changes, but the tools offered to its runs do. */
  const readSession = async (session: SessionId): Promise<Session> => {
    const known = await store.readSession(session);
    if (known === undefined) throw planeError('SESSION_INVALID', { problem: 'there is no such session' });
    return known;
  };

  /** Returns the same object as long as catalog and policy are the same. */
  function show(tools: Found, current: Catalog, record: PolicyRecord, identity: Identity): SessionToolkit {
    const last = shown.get(tools);
    if (last?.catalog === current && last.record === record) return last.toolkit;
    const toolkit = assemble(tools, current, record, identity);
    shown.set(tools, { catalog: current, record, toolkit });
    return toolkit;
  }

  return {
    async find({ id, run }, prove, signal) {
      const [, session] = await Promise.all([prove, readSession(id), readPolicy(), readCatalog()]);
      const { identity } = session;
      // Use the newest catalog and policy that any request has read so far, so that a toolkit is never older than one that was returned
      // before.
      const [current, record] = [catalog, policy!];
      const build = () => ({
        value: { tools: buildToolkit(current, record.policy, identity).tools },
        modules: modulesOfToolkit(record.policy, identity),
      });
      const tools = valueOf(await found.resolve(keyOf(identity), build, signal));
      const own = show(tools, current, record, identity);
      // Offers belong to one run and end with it, so they are added to a copy, not to the cached toolkit.
      const offered = session.injected?.filter((grant) => grant.run === run) ?? [];
      return offered.length === 0 ? own : withOffers(own, current, record, identity, offered);
    },
    close() {
      found.close();
    },
  };
}

function assemble(
  { tools }: Found,
  catalog: Catalog,
  { policy, version }: PolicyRecord,
  identity: Identity,
): SessionToolkit {
  let missing: SessionToolkit['missing'] | undefined;
  let surfaces: SessionToolkit['surfaces'] | undefined;
  return Object.freeze({
    tools,
    get missing() {
      return (missing ??= explainMissing(catalog, policy, identity));
    },
    get surfaces() {
      return (surfaces ??= findSurfaces(catalog, policy, identity));
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
    get surfaces() {
      return own.surfaces;
    },
    catalogDigest,
    policyVersion,
  });
}

/** Everything that a toolkit depends on in addition to catalog and policy. */
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

/** Whether this is a store error that the error table marks as worth a retry `after-a-while`. */
function isTransient(error: unknown): boolean {
  return error instanceof PlaneError && ERRORS[error.code].retry === 'after-a-while';
}
