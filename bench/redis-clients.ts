// Measures what a Redis client costs for the traffic of the store's hot path: one FCALL with the arguments of a batch of calls, bytes in
// and bytes out, two batches under way. The clients take turns in one process, against one server.
import { parseArgs } from 'node:util';
import { explainUsage } from './harness/explain-usage.ts';
import { cpuMicrosecondsOf } from './harness/cpu-of.ts';
import { startRedis } from './harness/redis-server.ts';
import { median, shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';
import { checkAnswers, makeBatch } from './redis-clients/batch-traffic.ts';
import { CLIENTS, type BenchClient, type ClientName } from './redis-clients/clients.ts';

const BATCHES = [1, 16, 64];
const TRIPS = 2;
const NAMES = Object.keys(CLIENTS) as ClientName[];

interface Cell {
  readonly client: ClientName;
  readonly batch: number;
  readonly callsPerSecond: number;
  readonly clientUs: number;
  readonly redisUs: number;
}

const USAGE = 'npm run bench -- redis-clients [--seconds 1] [--repetitions 5] [--json]';
const { values } = explainUsage(USAGE, () =>
  parseArgs({
    options: {
      seconds: { type: 'string', default: '1' },
      repetitions: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
    },
  }),
);
const seconds = Number(values.seconds);
const repetitions = Number(values.repetitions);
if (!(seconds > 0) || !(repetitions >= 1)) {
  console.error(USAGE);
  process.exit(2);
}

async function measure(client: BenchClient, batch: number, redisPid: number): Promise<Omit<Cell, 'client'>> {
  const cpuBefore = process.cpuUsage();
  const redisBefore = cpuMicrosecondsOf(redisPid);
  const startedAt = performance.now();
  let calls = 0;
  async function sendOnAndOn(): Promise<void> {
    while (performance.now() - startedAt < seconds * 1000) {
      const args = makeBatch(batch);
      checkAnswers([...args], await client.fcall(args));
      calls += batch;
    }
  }
  await Promise.all(Array.from({ length: TRIPS }, sendOnAndOn));
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    batch,
    callsPerSecond: (calls / (performance.now() - startedAt)) * 1000,
    clientUs: (user + system) / calls,
    redisUs: (cpuMicrosecondsOf(redisPid) - redisBefore) / calls,
  };
}

const redis = await startRedis();
const clients = new Map<ClientName, BenchClient>();
for (const name of NAMES) clients.set(name, await CLIENTS[name](redis.url));
const cells: Cell[] = [];
// The first round is a warm-up and is not counted.
for (let repetition = 0; repetition <= repetitions; repetition += 1) {
  for (const batch of BATCHES) {
    for (const [client, opened] of clients) {
      const cell = { client, ...(await measure(opened, batch, redis.pid)) };
      if (repetition > 0) cells.push(cell);
      process.stderr.write(
        `round ${repetition}/${repetitions}, batch of ${batch}, ${client}: ${shown(cell.callsPerSecond)} calls/s\n`,
      );
    }
  }
}
for (const client of clients.values()) await client.close();
await redis.stop();

const medianOf = (client: ClientName, batch: number, pick: (cell: Cell) => number): number =>
  median(cells.filter((cell) => cell.client === client && cell.batch === batch).map(pick));
const rows = BATCHES.flatMap((batch) =>
  NAMES.map((client) => [
    `${batch} per batch, ${client}`,
    shown(
      medianOf(client, batch, ({ clientUs }) => clientUs) / medianOf('node-redis', batch, ({ clientUs }) => clientUs),
      2,
    ),
    shown(medianOf(client, batch, ({ callsPerSecond }) => callsPerSecond)),
    shown(
      medianOf(client, batch, ({ clientUs }) => clientUs),
      1,
    ),
    shown(
      medianOf(client, batch, ({ redisUs }) => redisUs),
      1,
    ),
  ]),
);
console.log(
  values.json
    ? JSON.stringify({ seconds, repetitions, cells }, null, 2)
    : formatTable(['traffic', 'client CPU / node-redis', 'calls/s', 'client µs per call', 'redis µs per call'], rows),
);
