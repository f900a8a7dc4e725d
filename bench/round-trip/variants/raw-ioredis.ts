import { Redis } from 'ioredis';
import {
  answerRequest,
  type BenchReply,
  type BenchRequest,
  type CallerSide,
  type Variant,
  type WorkerSide,
} from '../variant.ts';
import { openReplies } from './open-replies.ts';

const REQUESTS = 'requests';
const GROUP = 'workers';
const BATCH = 128;
const BLOCK_MS = 1000;
const TAKE = ['GROUP', GROUP, 'worker', 'COUNT', BATCH, 'BLOCK', BLOCK_MS] as const;

type Entries = [stream: string, entries: [id: string, fields: string[]][]][] | null;

/** Only streams: no identity, no deduplication, no fence, no record of the result. */
export const rawIoredis: Variant = { about: 'streams by hand, ioredis 6', openWorker, openCaller };

function open(url: string): Redis {
  return new Redis(url, { protocol: 2, replyMapping: 'legacy' });
}

async function openWorker({ redisUrl }: { redisUrl: string }): Promise<WorkerSide> {
  const [reader, writer] = [open(redisUrl), open(redisUrl)];
  await writer.xgroup('CREATE', REQUESTS, GROUP, '$', 'MKSTREAM');
  let closing = false;
  const reading = (async () => {
    while (!closing) {
      const read = (await reader.xreadgroup(...TAKE, 'STREAMS', REQUESTS, '>')) as Entries;
      if (read !== null) answerBatch(writer, read[0]![1]);
    }
  })();
  return {
    async close() {
      closing = true;
      await reading;
      await Promise.all([reader.quit(), writer.quit()]);
    },
  };
}

/** The next read does not wait for this write, so both are under way at the same time. */
function answerBatch(writer: Redis, entries: [id: string, fields: string[]][]): void {
  const pipeline = writer.pipeline();
  for (const [, fields] of entries) {
    const reply = answerRequest(JSON.parse(fields[3]!) as BenchRequest);
    pipeline.xadd(fields[1]!, 'MAXLEN', '~', 10_000, '*', 'reply', JSON.stringify(reply));
  }
  const ids = entries.map(([id]) => id);
  pipeline.xack(REQUESTS, GROUP, ...ids);
  pipeline.xdel(REQUESTS, ...ids);
  void pipeline.exec();
}

async function openCaller({ redisUrl }: { redisUrl: string }): Promise<CallerSide> {
  const [reader, writer] = [open(redisUrl), open(redisUrl)];
  const replyTo = `replies:${process.pid}`;
  const replies = openReplies();
  let last = '0-0';
  let closing = false;
  const reading = (async () => {
    while (!closing) {
      const read = (await reader.xread('COUNT', BATCH, 'BLOCK', BLOCK_MS, 'STREAMS', replyTo, last)) as Entries;
      for (const [id, fields] of read?.[0]![1] ?? []) {
        replies.arrived(JSON.parse(fields[1]!) as BenchReply);
        last = id;
      }
    }
  })();

  let gathered: string[] = [];
  function send(): void {
    const pipeline = writer.pipeline();
    for (const request of gathered) pipeline.xadd(REQUESTS, '*', 'replyTo', replyTo, 'request', request);
    gathered = [];
    void pipeline.exec();
  }

  return {
    call(request) {
      if (gathered.length === 0) setImmediate(send);
      gathered.push(JSON.stringify(request));
      return replies.expect(request.id);
    },
    async close() {
      closing = true;
      await reading;
      await Promise.all([reader.quit(), writer.quit()]);
    },
  };
}
