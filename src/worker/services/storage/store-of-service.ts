import type { ScopedStore } from './scoped-store.ts';

/** One service's part of the store. Its scopes are separate from those of other services, and it cannot close the shared store. */
export function storeOfService(service: string, store: ScopedStore): ScopedStore {
  const own = (scope: string): string => `${service}:${scope}`;
  return {
    commit: (scope, batch) => store.commit(own(scope), batch),
    read: (scope, collection, ids) => store.read(own(scope), collection, ids),
    list: (scope, collection, query) => store.list(own(scope), collection, query),
    postings: (scope, collection, terms, limit) => store.postings(own(scope), collection, terms, limit),
    vectors: (scope, collection, limit) => store.vectors(own(scope), collection, limit),
    keepVectors: (scope, collection, vectors) => store.keepVectors(own(scope), collection, vectors),
    scopeVersion: (scope) => store.scopeVersion(own(scope)),
    now: () => store.now(),
    close: async () => undefined,
  };
}
