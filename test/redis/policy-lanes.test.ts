import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLOSED_POLICY } from '../../src/domain/policy/policy.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { reapRequest } from '../contract/fixtures.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

it('a version that was written over by hand is put right by the next reap, and one that may be real stays', async () => {
  const name = `lanes-${randomId()}`;
  const store = await openRedisStore({ url: server.url, name, lanes: 2 });
  const versions = () =>
    Promise.all([0, 1].map((lane) => server.cli('HGET', `{${name}:${lane}}:meta`, 'policyVersion')));
  for (const expectedVersion of [0, 1]) await store.writePolicy({ expectedVersion, policy: CLOSED_POLICY });
  for (const forged of ['abc', '2000000', '9'.repeat(20), '1', '-5', '2.5', '']) {
    await server.cli('HSET', `{${name}:1}:meta`, 'policyVersion', forged);
    await store.reapCalls(reapRequest(0));
    expect(await versions()).toEqual(['2', '2']);
  }
  // Version 3 may be real: the policy record may have gone back and lost a pause. So the lane keeps its version.
  await server.cli('HSET', `{${name}:1}:meta`, 'policyVersion', '3');
  await store.reapCalls(reapRequest(0));
  expect(await versions()).toEqual(['2', '3']);
  await store.close();
});
