/** For tests and operators' scripts: the store itself, with everything it can do. */
export { openStore, type StoreOptions } from '../compose/open-store.ts';
export type { Catalog } from '../domain/catalog.ts';
export { normaliseSelection, type SelectionInput } from '../domain/selection.ts';
export { buildToolkit, type Toolkit } from '../domain/toolkit.ts';
export type { Policy, PolicyRecord } from '../domain/policy.ts';
export type { Store } from '../ports/store.ts';
