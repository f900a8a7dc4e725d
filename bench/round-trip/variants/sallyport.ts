import { fileURLToPath } from 'node:url';
import { startWorker, type WorkerOptions } from 'sallyport';
import { connect, type Client, type ConnectOptions } from 'sallyport/client';
import { openStore, type Policy, type StoreOptions } from 'sallyport/testing';
import { CLOSED_DOWN, GATED } from '../../gate/policies.ts';
import type { BenchReply, BenchRequest, CallerSide, Place, Variant, WorkerSide } from '../variant.ts';

const MODULES = fileURLToPath(new URL('../modules', import.meta.url));
const CONCURRENCY = 128;
/** At most 64 calls of one subject are in the queue at once, so 1024 calls in flight need sixteen sessions. */
const SESSIONS = 16;

const ABOUT = `worker concurrency ${CONCURRENCY}, ${SESSIONS} sessions of different subjects`;
export const onRedis = ({ redisUrl }: Place): StoreOptions => ({ store: 'redis', redis: { url: redisUrl } });
const onFile = ({ folder }: Place): StoreOptions => ({ store: 'embedded', folder });

/** For a `read` tool the delivery is the claim: two scripts per call. */
export const sallyportRead: Variant = {
  about: `the plane on Redis with a \`read\` tool, ${ABOUT}`,
  openWorker: (place) => serve(onRedis(place)),
  openCaller: (place) => openCaller(onRedis(place), 'bench.read'),
};

/** An `unsafe` tool needs one more script: the start mark that keeps the tool from running twice. */
export const sallyportUnsafe: Variant = {
  about: `the plane on Redis with an \`unsafe\` tool, ${ABOUT}`,
  openWorker: (place) => serve(onRedis(place)),
  openCaller: (place) => openCaller(onRedis(place), 'bench.unsafe'),
};

/** Caller, worker and store are one process; every commit is written to disk. */
export const embedded: Variant = {
  about: `the plane on its SQLite file with a \`read\` tool, one process, ${ABOUT}`,
  async openCaller(place) {
    const worker = await serve(onFile(place));
    const caller = await openCaller(onFile(place), 'bench.read');
    return {
      call: (request) => caller.call(request),
      async close() {
        await caller.close();
        await worker.close();
      },
    };
  },
};

/** The gate as in a typical deployment: with rules and loop detection. */
export const gated: Variant = {
  about: `the plane on Redis with a \`read\` tool, three rules and loop detection, ${ABOUT}`,
  openWorker: (place) => serve(onRedis(place), GATED),
  openCaller: (place) => openCaller(onRedis(place), 'bench.read'),
};

/** The gate without rules and without loop detection. */
export const ungated: Variant = {
  about: `the same without rules, loop detection switched off`,
  openWorker: (place) => serve(onRedis(place), CLOSED_DOWN),
  openCaller: (place) => openCaller(onRedis(place), 'bench.read'),
};

export async function serve(
  store: StoreOptions,
  gate: Partial<Policy> = {},
  more: Pick<WorkerOptions, 'telemetry'> = {},
): Promise<WorkerSide> {
  await openTheTools(store, gate);
  const worker = await startWorker({ ...store, modules: MODULES, concurrency: CONCURRENCY, health: false, ...more });
  const [broken] = worker.loaded.broken;
  if (broken !== undefined) throw new Error(`the module of the bench is not served: ${broken.reason}`);
  return { close: () => worker.drain() };
}

async function openTheTools(options: StoreOptions, gate: Partial<Policy>): Promise<void> {
  const store = await openStore(options);
  const { version, policy } = await store.readPolicy();
  await store.writePolicy({
    expectedVersion: version,
    policy: { ...policy, permissions: { 'bench.*': { allow: ['*'] } }, ...gate },
  });
  await store.close();
}

export async function openCaller(
  store: StoreOptions,
  tool: string,
  more: Pick<ConnectOptions, 'telemetry'> = {},
): Promise<CallerSide> {
  const client = await connect({ ...store, ...more });
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => client.openSession({ subject: `subject-${index}`, agent: 'bench' })),
  );
  return {
    call: (request) => call(client, sessions[request.id % SESSIONS]!, tool, request),
    close: () => client.close(),
  };
}

type Session = Awaited<ReturnType<Client['openSession']>>;

async function call(client: Client, session: Session, tool: string, { id, text }: BenchRequest): Promise<BenchReply> {
  const answer = await client.call(session, tool, { id, text }, { waitMs: 60_000 });
  if (answer.kind !== 'settled' || answer.outcome.kind !== 'ok') {
    throw new Error(`request ${id} ended as ${JSON.stringify(answer)}`);
  }
  return answer.outcome.structured as unknown as BenchReply;
}
