import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { CallId, SessionId, ToolId } from '../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Identity } from '../../src/domain/identity/session.ts';
import type { Log } from '../../src/domain/ports/log.ts';
import type { ServiceAccess } from '../../src/domain/ports/service-access.ts';
import type { Services } from '../../src/domain/ports/tool-services.ts';
import { openServiceHandles } from '../../src/worker/runners/open-service-handles.ts';
import { BUILT_IN } from '../../src/worker/services/load-services.ts';
import { defineService } from '../../src/worker/services/define-service.ts';
import { createServiceRegistry, type ServiceRegistry } from '../../src/worker/services/registry.ts';
import type { Embedder } from '../../src/worker/services/search/embedder.ts';
import type { ScopedStore } from '../../src/worker/services/storage/scoped-store.ts';

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface Backend {
  open(): Promise<ScopedStore>;
  destroy(): Promise<void>;
}

export interface Scene {
  /** One store for the whole file: tests use different tenants. */
  readonly store: ScopedStore;
  /** Opens one more connection to the same data, as another worker would. */
  open(): Promise<ScopedStore>;
}

export function prepareScene(createBackend: () => Promise<Backend>): Scene {
  let backend: Backend;
  const opened: ScopedStore[] = [];
  beforeAll(async () => {
    backend = await createBackend();
    opened.push(await backend.open());
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await backend.destroy();
  });
  return {
    get store() {
      return opened[0]!;
    },
    async open() {
      const store = await backend.open();
      opened.push(store);
      return store;
    },
  };
}

export const newScope = (): string => `test-${randomUUID()}`;
export const newTenant = (): string => `tenant-${randomUUID()}`;

export interface Staged {
  /** What a call of this identity gets. */
  readonly as: (identity: Partial<Identity>, callId?: string) => Services;
  readonly access: (identity: Partial<Identity>, callId?: string) => ServiceAccess;
  readonly registry: ServiceRegistry;
}

export interface StagingOptions {
  readonly config?: Readonly<Record<string, JsonObject>>;
  readonly embedder?: Embedder;
}

/** The shipped services on this store, reached as tools reach them. The store stays open. */
export async function stageServices(store: ScopedStore, options: StagingOptions = {}): Promise<Staged> {
  const { config = {}, embedder } = options;
  const names = ['conversations', 'knowledge', 'tasks'];
  const services = new Map(names.map((name) => [name, { definition: BUILT_IN[name]!, config: config[name] ?? {} }]));
  if (embedder !== undefined) {
    const definition = defineService({ methods: [], start: () => ({ open: () => ({}), api: embedder }) });
    services.set('models', { definition, config: {} });
  }
  const borrowed = { ...store, close: async () => {} };
  const secret = () => Promise.reject(new Error('no secrets here'));
  const registry = createServiceRegistry({ services, openStorage: async () => borrowed, secret, log: SILENT });
  await registry.start(services.keys());
  const access = (identity: Partial<Identity>, callId: string = randomUUID()): ServiceAccess =>
    registry.open(names, {
      identity: { tenant: 'default', subject: 'ann', agent: 'main', ...identity },
      session: 'session' as SessionId,
      callId: callId as CallId,
      fence: 1,
      tool: 'test.tool' as ToolId,
    });
  return {
    registry,
    access,
    as(identity, callId) {
      const { offered, call } = access(identity, callId);
      return openServiceHandles(offered, call) as unknown as Services;
    },
  };
}
