// `sallyport/service`: what the author of a service needs. It is loaded in workers only.
export {
  defineService,
  type RunningService,
  type ServiceCall,
  type ServiceContext,
  type ServiceDefinition,
  type ServiceHandle,
} from '../services/define-service.ts';
export type { ServiceEntries, ServiceEntry } from '../services/load-services.ts';
export { parseArgument } from '../services/parse-arguments.ts';
export { scopeOf, type ScopeKind } from '../services/scope-of.ts';
export type { Embedder } from '../services/search/embedder.ts';
export { ServiceFailure } from '../services/service-failure.ts';
export type {
  Batch,
  CommitAnswer,
  DocumentHead,
  ListQuery,
  NewVector,
  Postings,
  Put,
  ScopedStore,
  StoredDocument,
  StoredVector,
} from '../services/storage/scoped-store.ts';
export type { ServiceCaller, ServiceHealth } from '../domain/service.ts';
