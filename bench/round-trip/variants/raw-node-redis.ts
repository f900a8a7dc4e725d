import { createClient } from 'redis5';
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

interface Message {
  readonly id: string;
  readonly message: Readonly<Record<string, string>>;
}
type Read = readonly { readonly messages: readonly Message[] }[] | null;
type Client = Awaited<ReturnType<typeof open>>;

/** The same as raw-ioredis with another client, which pipelines the commands of one tick by itself. */
export const rawNodeRedis: Variant = { about: 'streams by hand, node-redis 5', openWorker, openCaller };

async function open(url: string) {
  const client = createClient({ url, RESP: 2 });
  client.on('error', (error: Error) => console.error(error.message));
  return client.connect();
}

async function openWorker({ redisUrl }: { redisUrl: string }): Promise<WorkerSide> {
  const [reader, writer] = [await open(redisUrl), await open(redisUrl)];
  await writer.xGroupCreate(REQUESTS, GROUP, '$', { MKSTREAM: true });
  let closing = false;
  const reading = (async () => {
    while (!closing) {
      const read = (await reader.xReadGroup(
        GROUP,
        'worker',
        { key: REQUESTS, id: '>' },
        { COUNT: BATCH, BLOCK: BLOCK_MS },
      )) as Read;
      if (read !== null) answerBatch(writer, read[0]!.messages);
    }
  })();
  return {
    async close() {
      closing = true;
      await reading;
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}

function answerBatch(writer: Client, messages: readonly Message[]): void {
  for (const { message } of messages) {
    const reply = answerRequest(JSON.parse(message['request']!) as BenchRequest);
    const trim = { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: 10_000 } } as const;
    void writer.xAdd(message['replyTo']!, '*', { reply: JSON.stringify(reply) }, trim);
  }
  const ids = messages.map(({ id }) => id);
  void writer.xAck(REQUESTS, GROUP, ids);
  void writer.xDel(REQUESTS, ids);
}

async function openCaller({ redisUrl }: { redisUrl: string }): Promise<CallerSide> {
  const [reader, writer] = [await open(redisUrl), await open(redisUrl)];
  const replyTo = `replies:${process.pid}`;
  const replies = openReplies();
  let last = '0-0';
  let closing = false;
  const reading = (async () => {
    while (!closing) {
      const read = (await reader.xRead({ key: replyTo, id: last }, { COUNT: BATCH, BLOCK: BLOCK_MS })) as Read;
      for (const { id, message } of read?.[0]!.messages ?? []) {
        replies.arrived(JSON.parse(message['reply']!) as BenchReply);
        last = id;
      }
    }
  })();
  return {
    call(request) {
      void writer.xAdd(REQUESTS, '*', { replyTo, request: JSON.stringify(request) });
      return replies.expect(request.id);
    },
    async close() {
      closing = true;
      await reading;
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}
