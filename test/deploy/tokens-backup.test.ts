import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adoptStore, inspectAdoptionOf } from '../../src/operate/adopt-store.ts';
import { backupStore, restoreStore } from '../../src/operate/backup-store.ts';
import { openStore, type StoreOptions } from '../../src/operate/open-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { HOUR_MS } from '../contract/fixtures.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let folder: TemporaryFolder;
let server: RedisServer;
beforeAll(async () => void (server = await startRedis()));
beforeEach(() => void (folder = temporaryFolder('sallyport-tokens')));
afterEach(() => folder.remove());
afterAll(async () => {
  await server.stop();
  failOnLeaks();
});

async function create(store: Store): Promise<{ id: string; secretDigest: string }> {
  const { id, secretDigest } = newTokenText();
  const token = { id, name: 'ci', scopes: ['operator'] as const };
  await store.createToken({ token, secretDigest, lifetimeMs: HOUR_MS });
  return { id, secretDigest };
}

describe.each<[string, (name: string) => StoreOptions]>([
  ['embedded', (name) => ({ store: 'embedded', folder: join(folder.path, name) })],
  ['redis', (name) => ({ store: 'redis', redis: { url: server.url, name } })],
])('a copy of the %s store', (_, at) => {
  it('has its tokens, the revoked ones as revoked, and knows what was used once', async () => {
    const copy = { folder: join(folder.path, 'copy'), pauseMs: 4000, onProgress: () => undefined };
    const store = await openStore(at('source'));
    const [token, revoked] = [await create(store), await create(store)];
    await store.revokeToken(revoked);
    await store.useOnce({ digest: 'd', attempt: 'a', lifetimeMs: HOUR_MS });
    const listed = await store.listTokens({ limit: 10 });
    await store.close();
    await backupStore(at('source'), copy);
    await restoreStore(at('target'), copy);
    await adoptStore(at('target'), await inspectAdoptionOf(at('target')), { rerun: false, retentionMs: 1000 });
    const restored = await openStore(at('target'));
    expect(await restored.listTokens({ limit: 10 })).toEqual(listed);
    expect(await restored.proveToken(token)).toMatchObject({ id: token.id });
    expect(await restored.proveToken(revoked)).toBeUndefined();
    expect(await restored.useOnce({ digest: 'd', attempt: 'b', lifetimeMs: HOUR_MS })).toBe('used');
    await restored.close();
  });
});
