// `sallyport/service`: what the author of a service needs. It is loaded in workers only.
export {
  defineService,
  type RunningService,
  type ServiceCall,
  type ServiceContext,
  type ServiceDefinition,
  type ServiceHandle,
} from '../worker/services/define-service.ts';
export type { ServiceEntries, ServiceEntry } from '../worker/services/load-services.ts';
export { parseArgument } from '../worker/services/parse-arguments.ts';
export { scopeOf, type ScopeKind } from '../worker/services/scope-of.ts';
export type { Embedder } from '../worker/services/search/embedder.ts';
export { ServiceFailure } from '../worker/services/service-failure.ts';
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
} from '../worker/services/storage/scoped-store.ts';
export type { ServiceCaller, ServiceHealth } from '../domain/tool/service.ts';
