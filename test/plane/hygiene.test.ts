import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { BACKENDS, outcomeOf, stagePlane, type StagedPlane } from './support/stage-plane.ts';

/** Processes whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        const stat = readFileSync(`/proc/${candidate}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
      } catch {
        return false;
      }
    });
}

describe.each(BACKENDS)('a drained run on %s', (backend) => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane(backend);
  });
  afterEach(() => plane.stop());

  it('leaves nothing behind but outcomes and audit', async () => {
    const worker = await plane.startWorker();
    const sessions = await Promise.all(['ann', 'ben', 'cat'].map((subject) => plane.openSession(subject)));
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const session = sessions[index % 3]!;
        const tool = ['basic.echo', 'basic.write', 'basic.fails', 'basic.nest'][index % 4]!;
        const args = [
          { text: 'x' },
          { file: plane.effectFile, line: 'x' },
          { how: 'throw' },
          { tool: 'basic.echo', args: { text: 'y' } },
        ][index % 4]!;
        return outcomeOf(plane, session, await plane.client.call(session, tool, args, { waitMs: 60_000 }));
      }),
    );
    expect(answers).toHaveLength(300);
    const { pid } = worker.process;
    worker.process.kill('SIGTERM');
    expect((await worker.process.exited).code).toBe(0);

    expect(await plane.store.listCalls({ limit: 10 })).toEqual([]);
    expect(await plane.store.listWorkers()).toEqual([]);
    for (const state of await plane.store.queueState()) expect(state).toMatchObject({ queued: 0, leased: 0 });
    expect(childrenOf(pid)).toEqual([]);
    if (plane.redis === undefined) return;
    const keys = (await plane.redis.cli('KEYS', '*')).split('\n');
    const left = keys.filter(
      (key) =>
        !/:(calls$|live$|forget:|session:|reply:|journal$|drain$|meta$|retained$|windows$|sessions$|runs$|recent:|pool:default(~nested)?$)|^\{sallyport\}:/.test(
          key,
        ),
    );
    expect(left).toEqual([]);
    expect(await plane.redis.cli('XLEN', '{sallyport:0}:pool:default')).toBe('0');
    expect(await plane.redis.cli('ZCOUNT', '{sallyport:0}:live', '-inf', '(+inf')).toBe('0');
    expect(await plane.redis.cli('HGET', '{sallyport:0}:meta', 'liveBytes')).toBe('0');
    // The time since which bytes are counted, and for each subject the bytes of its kept outcomes: nothing live, parked or pending.
    const shares = (await plane.redis.cli('HVALS', '{sallyport:0}:windows')).split('\n').toSorted();
    expect(shares).toStrictEqual(['0', ...Array<unknown>(3).fill(expect.stringMatching(/^0 [1-9]\d* 0 0$/))]);
    for (const key of keys.filter((name) => name.includes(':reply:'))) {
      expect(Number(await plane.redis.cli('PTTL', key))).toBeGreaterThan(0);
    }
    await expectAllWillBeForgotten(plane.redis, keys);
    const consumers = await plane.redis.cli('XINFO', 'CONSUMERS', '{sallyport:0}:pool:default', 'workers');
    expect(consumers).not.toContain(worker.workerId);
  });
});

/** Expects that every call is in a list of the calls that are forgotten when their retention ends. */
async function expectAllWillBeForgotten(redis: RedisServer, keys: string[]): Promise<void> {
  const list = async (...command: string[]) => (await redis.cli(...command)).split('\n').sort();
  const calls = await list('HKEYS', '{sallyport:0}:calls');
  const forgotten = keys.filter((name) => name.includes(':forget:')).map((key) => list('LRANGE', key, '0', '-1'));
  expect((await Promise.all(forgotten)).flat().sort()).toEqual(calls);
}

describe.each(BACKENDS)('readiness on %s', (backend) => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane(backend);
  });
  afterEach(() => plane.stop());

  it('turns red while the consumer loop is wedged, and green again', async () => {
    const worker = await plane.startWorker({ health: { port: 0 } });
    const ask = async () => {
      const response = await fetch(`${worker.healthUrl}/readyz`);
      return { status: response.status, body: (await response.json()) as { reasons: string[] } };
    };
    expect((await ask()).status).toBe(200);
    expect((await fetch(`${worker.healthUrl}/healthz`)).status).toBe(200);
    const session = await plane.openSession();
    // An inline tool blocks the main thread: leases are still renewed, but no other call is served.
    const blocked = plane.client.call(session, 'basic.spin', { ms: 9000 }, { waitMs: 60_000 });
    const red = await eventually(
      async () => {
        const answer = await ask();
        return answer.status === 503 ? answer : undefined;
      },
      { what: 'readiness to turn red' },
    );
    expect(red.body.reasons[0]).toContain('consumer loop');
    expect((await fetch(`${worker.healthUrl}/healthz`)).status).toBe(200);
    expect((await outcomeOf(plane, session, await blocked)).kind).toBe('ok');
    await eventually(async () => (await ask()).status === 200, { what: 'readiness to turn green' });
    const audit = await plane.store.readAudit({ lane: 0, fromSequence: 1, limit: 10 });
    expect(audit.filter(({ event }) => event === 'call.settled')).toHaveLength(1);
  });
});
