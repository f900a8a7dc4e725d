import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startSentinel } from '../support/redis-sentinel.ts';

test.for([1, 3] as const)('with %d sentinel(s) a killed primary is replaced and ioredis follows', async (count) => {
  const group = await startSentinel({ count });
  const client = new Redis({ sentinels: [...group.sentinels], name: group.name });
  client.on('error', () => {});
  try {
    const before = await group.currentPrimary();
    expect(before.port).toBe(group.firstPrimary.port);
    await client.set('written', 'before');
    expect(await client.wait(1, 5_000)).toBe(1);

    const killed = await group.killPrimary();
    expect(killed).toBe(group.firstPrimary);
    const after = await group.waitForFailover(before);
    expect(after.port).toBe(group.firstReplica.port);
    expect(await group.currentPrimary()).toEqual(after);

    expect(await client.get('written')).toBe('before');
    await client.set('written', 'after');
    expect(await group.firstReplica.cli('GET', 'written')).toBe('after');

    await killed.restart();
    await eventually(async () => (await killed.cli('ROLE')).startsWith('slave'), {
      what: 'the old primary to become a replica',
    });
  } finally {
    client.disconnect();
    await group.stop();
  }
  failOnLeaks();
});
