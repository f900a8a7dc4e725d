import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import type { LayerOptions } from '../../../chaos/layers/layer.ts';
import { GROUP, laneKeys } from '../../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import {
  acceptOne,
  askAbout,
  cancelRequest,
  claimMany,
  claimOne,
  decideRequest,
  newWaiter,
  openSession,
  POOL,
  settleRequest,
  startRequest,
} from '../../contract/fixtures.ts';
import { eventually, freePort, temporaryFolder } from '../../support/process.ts';
import { redisServerArguments } from '../../support/redis-arguments.ts';
import { startRedis } from '../../support/redis-server.ts';
import { startProgram } from '../../support/watched-process.ts';
import { inParallel, type Tally } from './tally.ts';

const NAME = 'torn';
const SERVERS_AT_ONCE = 3;

/** A step of the recording: the length of the append-only file after it, and a digest of what the server held at that time. */
interface Step {
  readonly name: string;
  readonly bytes: number;
  readonly digest: string;
}

interface Recorded {
  /** The files of the append-only folder, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The name of the file that grows. */
  readonly growing: string;
  readonly steps: readonly Step[];
}

/** Redis computes a digest of all keys itself. It leaves out the pending list of a stream, which is added here. */
async function digestOf(link: Redis): Promise<string> {
  const stream = laneKeys(NAME, 0).stream(POOL);
  // Before the first worker created the group there is no pending list.
  const pending = await link.xpending(stream, GROUP, '-', '+', 100).catch(() => []);
  // Idle times differ between runs and are left out. The holder of each entry and its delivery count do not differ.
  const held = (pending as [string, string, number, number][]).map(([entry, worker, , count]) => [
    entry,
    worker,
    count,
  ]);
  return `${String(await link.call('DEBUG', 'DIGEST'))} ${JSON.stringify(held)}`;
}

async function recordSteps(): Promise<Recorded> {
  const server = await startRedis({ appendfsync: 'always' });
  const link = new Redis(server.url);
  const store = await openRedisStore({ url: server.url, name: NAME });
  const folder = join(server.directory, 'appendonlydir');
  const growing = readdirSync(folder).find((name) => name.endsWith('.incr.aof'))!;
  const steps: Step[] = [];
  try {
    const note = async (name: string): Promise<void> => {
      const digest = await digestOf(link);
      steps.push({ name, bytes: readFileSync(join(folder, growing)).byteLength, digest });
    };
    const session = await openSession(store);
    const waiter = newWaiter();
    // The first claim of a pool also creates its group, with separate commands.
    await claimMany(store, { limit: 1 });
    await note('openSession');
    await acceptOne(store, session, { waiter });
    await note('acceptCall');
    const first = await claimOne(store);
    await note('claimCalls');
    await store.startCall(startRequest(first));
    await note('startCall');
    await acceptOne(store, session, { waiter });
    await note('acceptCall');
    const second = await claimOne(store);
    await note('claimCalls');
    const asked = await askAbout(store, second);
    await note('askApproval');
    await store.decideApproval(decideRequest(asked));
    await note('decideApproval');
    await store.cancelCall(cancelRequest(asked.callId));
    await note('cancelCall');
    await store.settleCall(settleRequest(first));
    await note('settleCall');
    const files = new Map(readdirSync(folder).map((name) => [name, expireLater(readFileSync(join(folder, name)))]));
    return { files, growing, steps };
  } finally {
    await store.close();
    link.disconnect();
    await server.stop();
  }
}

/**
 * Keys with a lifetime of one minute would expire before the last cut is tried. Another first digit of the expiry time keeps them, and
 * no byte changes its position. The digest covers that a key expires, but not when.
 */
function expireLater(file: Buffer): Buffer {
  const later = file
    .toString('latin1')
    .replaceAll(/(PEXPIREAT\r\n\$\d+\r\n[^\r]*\r\n\$13\r\n|PXAT\r\n\$13\r\n)1/g, '$19');
  return Buffer.from(later, 'latin1');
}

/** Starts a server with the first `bytes` bytes of the file and returns the digest of what it holds. */
async function digestAfterCut({ files, growing }: Recorded, bytes: number): Promise<string> {
  const folder = temporaryFolder('sallyport-aof');
  mkdirSync(join(folder.path, 'appendonlydir'));
  for (const [name, content] of files) {
    writeFileSync(join(folder.path, 'appendonlydir', name), name === growing ? content.subarray(0, bytes) : content);
  }
  const place = { port: await freePort(), clusterPort: 0, directory: folder.path };
  const server = await startProgram('redis-server', redisServerArguments({}, place));
  const link = new Redis({ port: place.port, retryStrategy: () => 10, maxRetriesPerRequest: null });
  link.on('error', () => undefined);
  try {
    const loading = eventually(() => link.ping(), { what: 'the server' });
    const ended = server.exited.then(() => Promise.reject(new Error(`the server refused: ${server.stdout}`)));
    await Promise.race([loading, ended]);
    return await digestOf(link);
  } finally {
    link.disconnect();
    server.kill('SIGKILL');
    await server.exited;
    folder.remove();
  }
}

/**
 * Where to cut the file: the step of settle at every byte (short: every 151st), the others at every 53rd (short: every 1,009th), and
 * each step at its end.
 */
function cutsOf(steps: readonly Step[], short: boolean): { bytes: number; expected: Step; within: string }[] {
  return steps.slice(1).flatMap((step, index) => {
    const before = steps[index]!;
    const every = step.name === 'settleCall' ? (short ? 151 : 1) : short ? 1_009 : 53;
    const within = Array.from({ length: step.bytes - before.bytes }, (_, more) => before.bytes + more);
    const cuts = within.filter((bytes, more) => more % every === 1 % every || (!short && bytes === step.bytes - 1));
    const whole = { bytes: step.bytes, expected: step, within: `after ${step.name}` };
    return [...cuts.map((bytes) => ({ bytes, expected: before, within: `in ${step.name}` })), whole];
  });
}

export async function tortureRedis(tally: Tally, { short }: LayerOptions): Promise<void> {
  const recorded = await recordSteps();
  await inParallel(cutsOf(recorded.steps, short), SERVERS_AT_ONCE, ({ bytes, expected, within }) =>
    tally.attempt(`commands cut at byte ${bytes}, ${within}`, async () => {
      const digest = await digestAfterCut(recorded, bytes);
      const found = recorded.steps.find((step) => step.digest === digest)?.name ?? 'a state that never was';
      expect(digest === expected.digest, `it is ${found}, and must be ${expected.name}`).toBe(true);
    }),
  );
}
