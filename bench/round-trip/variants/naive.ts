// The command sequence of a tools service that keeps claim, session, result and audit in separate keys: one command after the other for
// every call. Where its design leaves a choice, the cheaper way is taken.
import { Redis } from 'ioredis';
import { answerRequest, type BenchReply, type BenchRequest, type Variant } from '../variant.ts';
import type { CallerSide, Place, WorkerSide } from '../variant.ts';
import { openReplies } from './open-replies.ts';

const REQUESTS = 'tools';
const GROUP = 'tools-workers';
const AUDIT = 'audit';
const BLOCK_MS = 1000;
const CLAIM_SECONDS = 300;
const RESULT_SECONDS = 120;
const STREAM_LENGTH = 100_000;
/** The same number of sessions as in the variants of the plane. */
const SESSIONS = 16;
const PARALLEL = 128;

type Entry = [id: string, fields: string[]];
type Entries = [stream: string, entries: Entry[]][] | null;

interface NaiveRequest extends BenchRequest {
  readonly idemKey: string;
  readonly traceId: string;
  readonly replyTo: string;
}

const SEQUENCE = 'claim, session, run, audit, result, reply and ack as commands of their own, ioredis 6';

export const naiveSerial: Variant = {
  about: `${SEQUENCE}, one call after the other`,
  openWorker: (place) => openWorker(place, 1),
  openCaller: (place) => openCaller(place, false),
};

export const naiveParallel: Variant = {
  about: `${SEQUENCE}, ${PARALLEL} calls at a time, autopipelining on both sides`,
  openWorker: (place) => openWorker(place, PARALLEL),
  openCaller: (place) => openCaller(place, true),
};

function open(url: string, enableAutoPipelining: boolean): Redis {
  return new Redis(url, { protocol: 2, replyMapping: 'legacy', enableAutoPipelining });
}

async function openWorker({ redisUrl }: Place, atOnce: number): Promise<WorkerSide> {
  const [reader, writer] = [open(redisUrl, false), open(redisUrl, atOnce > 1)];
  await writer.xgroup('CREATE', REQUESTS, GROUP, '$', 'MKSTREAM');
  const running = new Set<Promise<void>>();
  let closing = false;
  const reading = (async () => {
    while (!closing) {
      const free = atOnce - running.size;
      const take = ['GROUP', GROUP, 'worker', 'COUNT', free, 'BLOCK', BLOCK_MS] as const;
      const read = (await reader.xreadgroup(...take, 'STREAMS', REQUESTS, '>')) as Entries;
      for (const entry of read?.[0]![1] ?? []) {
        const work = handle(writer, entry).finally(() => running.delete(work));
        running.add(work);
      }
      if (running.size >= atOnce) await Promise.race(running);
    }
  })();
  return {
    async close() {
      closing = true;
      await reading;
      await Promise.all(running);
      await Promise.all([reader.quit(), writer.quit()]);
    },
  };
}

async function handle(redis: Redis, [entryId, fields]: Entry): Promise<void> {
  const request = JSON.parse(fields[1]!) as NaiveRequest;
  const claimed = await redis.set(`claim:${request.idemKey}`, '1', 'EX', CLAIM_SECONDS, 'NX');
  if (claimed === null) {
    const known = await redis.get(`result:${request.idemKey}`);
    if (known !== null) await reply(redis, request, known);
  } else {
    const session = await redis.get(`session:${request.traceId}`);
    if (session === null) throw new Error('there is no authenticated session');
    const { subject } = JSON.parse(session) as { subject: string };
    const result = JSON.stringify(answerRequest(request));
    const line = JSON.stringify({ subject, tool: request.tool, args: request.text, outcome: 'ok' });
    await redis.xadd(AUDIT, 'MAXLEN', '~', STREAM_LENGTH, '*', 'line', line);
    await redis.set(`result:${request.idemKey}`, result, 'EX', RESULT_SECONDS);
    await reply(redis, request, result);
  }
  await redis.xack(REQUESTS, GROUP, entryId);
}

async function reply(redis: Redis, { replyTo }: NaiveRequest, result: string): Promise<void> {
  await redis.xadd(replyTo, 'MAXLEN', '~', STREAM_LENGTH, '*', 'data', result);
}

async function openCaller({ redisUrl }: Place, autoPipelining: boolean): Promise<CallerSide> {
  const [reader, writer] = [open(redisUrl, false), open(redisUrl, autoPipelining)];
  const replyTo = `replies:${process.pid}`;
  const replies = openReplies();
  // Sessions are written once, not per turn of a conversation, which would cost one more command.
  for (let index = 0; index < SESSIONS; index += 1) {
    await writer.set(`session:trace-${index}`, JSON.stringify({ subject: `subject-${index}`, platform: 'bench' }));
  }
  let last = '0-0';
  let closing = false;
  const reading = (async () => {
    while (!closing) {
      const read = (await reader.xread('COUNT', PARALLEL, 'BLOCK', BLOCK_MS, 'STREAMS', replyTo, last)) as Entries;
      for (const [id, fields] of read?.[0]![1] ?? []) {
        replies.arrived(JSON.parse(fields[1]!) as BenchReply);
        last = id;
      }
    }
  })();
  return {
    call(request) {
      const traceId = `trace-${request.id % SESSIONS}`;
      const envelope: NaiveRequest = { ...request, idemKey: `${process.pid}-${request.id}`, traceId, replyTo };
      const answered = replies.expect(request.id);
      const fields = ['data', JSON.stringify(envelope), 'ts', Date.now(), 'trace_id', traceId] as const;
      void writer.xadd(REQUESTS, 'MAXLEN', '~', STREAM_LENGTH, '*', ...fields);
      return answered;
    },
    async close() {
      closing = true;
      await reading;
      await Promise.all([reader.quit(), writer.quit()]);
    },
  };
}
