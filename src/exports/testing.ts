/** For tests and operators' scripts: the store itself, with everything it can do. */
export { openStore, type StoreOptions } from '../compose/open-store.ts';
export type { Policy, PolicyRecord } from '../domain/policy.ts';
export type { Store } from '../ports/store.ts';
