import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Log } from '../../domain/ports/log.ts';
import type { RunningService, ServiceDefinition } from './define-service.ts';
import { createServiceRegistry } from './registry.ts';
import type { ScopedStore } from './storage/scoped-store.ts';

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

describe('a service registry', () => {
  let life: string[];
  beforeEach(() => {
    life = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function service(name: string, more: Partial<ServiceDefinition> = {}, running: Partial<RunningService> = {}) {
    const definition: ServiceDefinition = {
      methods: [],
      start: () => {
        life.push(`+${name}`);
        return { open: () => ({}), stop: () => void life.push(`-${name}`), ...running };
      },
      ...more,
    };
    return [name, { definition, config: {} }] as const;
  }
  const registryOf = (...services: ReturnType<typeof service>[]) =>
    createServiceRegistry({
      services: new Map(services),
      openStorage: async () => {
        life.push('+storage');
        return { close: async () => void life.push('-storage') } as unknown as ScopedStore;
      },
      secret: () => Promise.reject(new Error('none')),
      log: SILENT,
    });
  const fails = (): never => {
    throw new Error('No luck.');
  };

  it('starts in order of dependency, once, and stops in reverse', async () => {
    const registry = registryOf(service('b', { needs: ['c'] }), service('a'), service('c'));
    await registry.start(['b']);
    await registry.start(['a', 'b']);
    await registry.stop();
    expect(life).toEqual(['+c', '+b', '+a', '-a', '-b', '-c']);
  });

  it('stops what it had started when one fails, in reverse, and says which and why', async () => {
    const registry = registryOf(service('a'), service('b', { needs: ['a'] }), service('c', { start: fails }));
    await expect(registry.start(['a', 'b', 'c'])).rejects.toMatchObject({
      code: 'SERVICE_FAILED',
      message: 'The service c could not be started: No luck.',
    });
    expect(life).toEqual(['+a', '+b', '-b', '-a']);
  });

  it('a later start that fails leaves those that run alone', async () => {
    const registry = registryOf(service('a'), service('b'), service('c', { start: fails }));
    await registry.start(['a']);
    await expect(registry.start(['b', 'c'])).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
    expect(life).toEqual(['+a', '+b', '-b']);
  });

  it('one that does not become ready in time has failed, and is stopped if it comes up after all', async () => {
    vi.useFakeTimers();
    let ready!: (service: RunningService) => void;
    const slow = service('slow', { start: () => new Promise((resolve) => (ready = resolve)) });
    const registry = registryOf(service('a'), slow);
    const starting = registry.start(['a', 'slow']).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await starting).toMatchObject({ facts: { service: 'slow', problem: 'it was not ready within 30 s' } });
    ready({ open: () => ({}), stop: () => void life.push('-slow') });
    await vi.advanceTimersByTimeAsync(0);
    expect(life).toEqual(['+a', '-a', '-slow']);
  });

  it('one that cannot be stopped does not keep the others from it', async () => {
    vi.useFakeTimers();
    const hangs = { stop: () => new Promise<void>(() => {}) };
    const registry = registryOf(service('a'), service('b', {}, { stop: fails }), service('c', {}, hangs));
    await registry.start(['a', 'b', 'c']);
    const stopping = registry.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    await stopping;
    expect(life).toEqual(['+a', '+b', '+c', '-a']);
  });

  it('gives a service the api of what it needs and uses', async () => {
    const seen: unknown[] = [];
    const start: ServiceDefinition['start'] = ({ services }) => {
      seen.push(services);
      return { open: () => ({}) };
    };
    const registry = registryOf(
      service('a', {}, { api: 'the api of a' }),
      service('b', { needs: ['a'], uses: ['ghost'], start }),
    );
    await registry.start(['b']);
    expect(seen).toEqual([{ a: 'the api of a', ghost: undefined }]);
  });

  it('opens the storage once, for those that ask, and closes it after the last', async () => {
    const start: ServiceDefinition['start'] = async ({ storage }) => {
      await storage();
      return { open: () => ({}), stop: () => void life.push('-user') };
    };
    const registry = registryOf(service('a'), service('b', { start }), service('c', { start }));
    await registry.start(['a']);
    expect(life).toEqual(['+a']);
    await registry.start(['b', 'c']);
    await registry.stop();
    expect(life).toEqual(['+a', '+storage', '-user', '-user', '-a', '-storage']);
  });

  it('reports the health of each service; one that throws or does not answer has failed', async () => {
    vi.useFakeTimers();
    const registry = registryOf(
      service('a'),
      service('b', {}, { health: () => ({ state: 'degraded', detail: 'slow' }) }),
      service('c', {}, { health: fails }),
      service('d', {}, { health: () => new Promise<never>(() => {}) }),
    );
    await registry.start(['a', 'b', 'c', 'd']);
    const checked = registry.checkHealth();
    await vi.advanceTimersByTimeAsync(3000);
    expect(await checked).toEqual([
      { service: 'a', state: 'ok' },
      { service: 'b', state: 'degraded', detail: 'slow' },
      { service: 'c', state: 'failed', detail: 'No luck' },
      { service: 'd', state: 'failed', detail: 'it does not answer' },
    ]);
    expect(registry.health).toEqual(await checked);
  });
});
