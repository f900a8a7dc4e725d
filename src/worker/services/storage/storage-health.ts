import type { ServiceHealth } from '../../../domain/tool/service.ts';
import type { ScopedStore } from './scoped-store.ts';

export async function storageHealth(store: ScopedStore): Promise<Omit<ServiceHealth, 'service'>> {
  try {
    await store.now();
    return { state: 'ok' };
  } catch (error) {
    return { state: 'failed', detail: error instanceof Error ? error.message : 'its store does not answer' };
  }
}
