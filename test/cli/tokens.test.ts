import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayToken } from '../../src/domain/identity/gateway-token.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { readTokenText } from '../../src/domain/identity/token-text.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

const TOKEN = /^spt_[a-z2-7]{16}_[A-Za-z0-9_-]{43}$/;
const DAY_MS = 24 * 60 * 60 * 1000;

interface Place {
  readonly plane: PlaneFolder;
  /** A connection to the same store, as a gateway would have it. */
  readonly store: Store;
  close(): Promise<void>;
}

async function embeddedPlace(): Promise<Place> {
  const plane = planeFolder();
  const dev: WatchedProcess = await plane.start('dev');
  const store = await openEmbeddedStore({ folder: join(plane.path, '.sallyport'), mode: 'connect' });
  return {
    plane,
    store,
    async close() {
      await store.close();
      await dev.stop();
      plane.remove();
    },
  };
}

async function redisPlace(): Promise<Place> {
  const server: RedisServer = await startRedis();
  const plane = planeFolder([], { SALLYPORT_STORE: 'redis', SALLYPORT_REDIS_URL: server.url });
  const store = await openRedisStore({ url: server.url });
  return {
    plane,
    store,
    async close() {
      await store.close();
      await server.stop();
      plane.remove();
    },
  };
}

afterAll(() => failOnLeaks());

describe.each([
  ['a plane of its own', embeddedPlace],
  ['Redis', redisPlace],
])('sallyport tokens on %s', (_, openPlace) => {
  let place: Place;
  let plane: PlaneFolder;
  beforeAll(async () => {
    place = await openPlace();
    plane = place.plane;
  });
  afterAll(() => place.close());

  const prove = (text: string) => place.store.proveToken(readTokenText(text)!);
  const create = async (...args: string[]): Promise<string> => {
    const { code, stdout } = await plane.cli('tokens', 'create', ...args);
    expect(code).toBe(0);
    return stdout.trim();
  };

  it('create prints the token and nothing else, and says on the side how to take it back', async () => {
    const { code, stdout, stderr } = await plane.cli(
      'tokens',
      'create',
      'ci',
      '--scope',
      'agent',
      '--agent',
      'assistant',
      '--subject',
      'ada',
    );
    expect(code).toBe(0);
    const text = stdout.trim();
    expect(text).toMatch(TOKEN);
    expect(stderr).toContain(`sallyport tokens revoke ${readTokenText(text)!.id}`);
    expect(stderr).not.toContain(text.slice(-43));
    const found = await prove(text);
    expect(found).toMatchObject({
      name: 'ci',
      scopes: ['agent'],
      identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
    });
    expect(found!.expiresAt - found!.createdAt).toBe(30 * DAY_MS);
  });

  it('create takes several scopes, a tenant, who decides and when it ends', async () => {
    const answer = await plane.json(
      'tokens',
      'create',
      'rita’s',
      '--scope',
      'agent',
      '--scope',
      'approver',
      '--decides-as',
      'acme/rita',
      '--tenant',
      'acme',
      '--subject',
      'ada',
      '--agent',
      'helper',
      '--channel',
      'c1',
      '--expires',
      '366d',
    );
    const { token, ...shown } = answer as unknown as GatewayToken & { token: string };
    expect(await prove(token)).toEqual(shown);
    expect(shown).toMatchObject({
      name: 'rita’s',
      scopes: ['agent', 'approver'],
      decidesAs: 'acme/rita',
      identity: { tenant: 'acme', subject: 'ada', agent: 'helper', channel: 'c1' },
    });
    expect(shown.expiresAt - shown.createdAt).toBe(366 * DAY_MS);
    const plain = await create('sam', '--scope', 'approver', '--decides-as', 'sam');
    expect(await prove(plain)).toMatchObject({ decidesAs: 'default/sam' });
  });

  it('create writes it to a new file that only its owner can read, and prints nothing of it', async () => {
    const made = await plane.cli('tokens', 'create', 'file', '--scope', 'operator', '--out', 'op.token');
    const text = readFileSync(plane.file('op.token'), 'utf8').trim();
    expect(text).toMatch(TOKEN);
    expect(statSync(plane.file('op.token')).mode & 0o777).toBe(0o600);
    expect(made.stdout + made.stderr).not.toContain(text.slice(-43));
    expect(await prove(text)).toMatchObject({ name: 'file' });
    const again = await plane.cli('tokens', 'create', 'file', '--scope', 'operator', '--out', 'op.token', '--json');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('op.token exists already') as string });
    expect(readFileSync(plane.file('op.token'), 'utf8').trim()).toBe(text);
  });

  it('a token that cannot be made leaves no file behind', async () => {
    const refused = await plane.cli('tokens', 'create', 'x'.repeat(101), '--scope', 'operator', '--out', 'no.token');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('its name must be 1 to 100 characters');
    expect(existsSync(plane.file('no.token'))).toBe(false);
  });

  it('list shows all of them, the newest first, and no secret', async () => {
    const text = await create('list\u202eed', '--scope', 'admin', '--expires', '2h');
    const { stdout } = await plane.cli('tokens', 'list');
    expect(stdout).toMatch(/^TOKEN\s+NAME\s+SCOPES\s+FOR\s+MADE\s+STATE\n/);
    expect(stdout).toContain('list\\u{202e}ed');
    expect(stdout).toContain('assistant for default/ada');
    expect(stdout).toContain('decides as acme/rita');
    expect(stdout).not.toContain(text.slice(-43));
    const listed = (await plane.json('tokens', 'list', '--limit', '1')) as unknown as GatewayToken[];
    expect(listed).toEqual([await prove(text)]);
  });

  it('list shows a login link while it can be used, and not after', async () => {
    const isLink = ({ purpose }: GatewayToken): boolean => purpose === 'login-link';
    const links = async (): Promise<GatewayToken[]> =>
      ((await plane.json('tokens', 'list')) as unknown as GatewayToken[]).filter(isLink);
    const before = await links();
    await plane.cli('gateway', 'login-link', '--name', 'desk');
    const [made, ...more] = (await links()).filter(({ id }) => before.every((link) => link.id !== id));
    expect(more).toEqual([]);
    const row = (await plane.cli('tokens', 'list')).stdout.split('\n').find((line) => line.includes(made!.id));
    expect(row).toContain('a login link, not used yet');
    await plane.cli('tokens', 'revoke', made!.id);
    expect((await links()).map(({ id }) => id)).not.toContain(made!.id);
  });

  it('revoke takes it back, by its id or by the token itself, and says so of what is unknown', async () => {
    const [byId, byText] = [await create('one', '--scope', 'operator'), await create('two', '--scope', 'operator')];
    const { id } = readTokenText(byId)!;
    expect(await plane.cli('tokens', 'revoke', id)).toMatchObject({ code: 0 });
    expect(await prove(byId)).toBeUndefined();
    expect(await plane.json('tokens', 'revoke', byText)).toEqual({ id: readTokenText(byText)!.id, revoked: true });
    expect(await prove(byText)).toBeUndefined();
    expect((await plane.cli('tokens', 'list')).stdout).toMatch(/ two .* revoked/);
    const unknown = await plane.cli('tokens', 'revoke', 'aaaabbbbccccdddd');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('There is no token aaaabbbbccccdddd');
    // When only the secret part of a token was pasted, the message does not repeat it.
    const pasted = await plane.cli('tokens', 'revoke', byText.slice(-43));
    expect(pasted.code).toBe(1);
    expect(pasted.stderr).not.toContain(byText.slice(-43));
  });
});

describe('sallyport tokens create', () => {
  let plane: PlaneFolder;
  let store: Store;
  beforeAll(async () => {
    plane = planeFolder();
    store = await openEmbeddedStore({ folder: join(plane.path, '.sallyport') });
  });
  afterAll(async () => {
    await store.close();
    plane.remove();
  });

  it.each<[string, string[], string]>([
    ['no scope', ['x'], 'Say what it may do: --scope agent|operator|approver|sessions|admin'],
    [
      'an unknown scope',
      ['x', '--scope', 'root'],
      '--scope: Expected one of agent, operator, approver, sessions, admin.',
    ],
    ['a scope twice', ['x', '--scope', 'admin', '--scope', 'admin'], '--scope admin is given twice.'],
    ['an agent for nobody', ['x', '--scope', 'agent', '--agent', 'a'], 'Say who calls, and for whom'],
    ['an agent without its scope', ['x', '--scope', 'admin', '--agent', 'a'], '--agent goes with --scope agent.'],
    ['a decider without its scope', ['x', '--scope', 'admin', '--decides-as', 'a/b'], 'goes with --scope approver'],
    ['a decider without a subject', ['x', '--scope', 'approver', '--decides-as', 'a/'], 'Expected TENANT/SUBJECT'],
    ['too long a life', ['x', '--scope', 'admin', '--expires', '367d'], 'at most 366d'],
    ['no unit', ['x', '--scope', 'admin', '--expires', '30'], 'Give a duration with its unit'],
    ['no name', ['--scope', 'admin'], "missing required argument 'name'"],
    ['an empty name', ['', '--scope', 'admin'], 'its name must be 1 to 100 characters'],
    ['a name with a line break', ['a\nb', '--scope', 'admin'], 'its name must be 1 to 100 characters'],
    ['a tenant with a slash', ['x', '--scope', 'agent', '--agent', 'a', '--subject', 's', '--tenant', 'a/b'], 'slash'],
  ])('with %s is refused, and nothing is made', async (_case, args, says) => {
    const refused = await plane.cli('tokens', 'create', ...args);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(says);
    expect(await store.listTokens({ limit: 100 })).toEqual([]);
  });
});
