import { Queue, QueueEvents, Worker } from 'bullmq';
import {
  answerRequest,
  type BenchReply,
  type BenchRequest,
  type CallerSide,
  type Variant,
  type WorkerSide,
} from '../variant.ts';

const QUEUE = 'bench';
const CONCURRENCY = 128;

/** BullMQ as most programs use it: one job per call; the caller waits for the event that the job has finished. */
export const bullmq: Variant = {
  about: `BullMQ with its defaults, concurrency ${CONCURRENCY}, add + waitUntilFinished`,
  openWorker,
  openCaller,
};

async function openWorker({ redisUrl }: { redisUrl: string }): Promise<WorkerSide> {
  const worker = new Worker<BenchRequest, BenchReply>(QUEUE, async (job) => answerRequest(job.data), {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    concurrency: CONCURRENCY,
  });
  await worker.waitUntilReady();
  return { close: () => worker.close() };
}

async function openCaller({ redisUrl }: { redisUrl: string }): Promise<CallerSide> {
  const queue = new Queue<BenchRequest, BenchReply>(QUEUE, { connection: { url: redisUrl } });
  const events = new QueueEvents(QUEUE, { connection: { url: redisUrl } });
  queue.setMaxListeners(0);
  events.setMaxListeners(0);
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  return {
    async call(request) {
      const job = await queue.add('echo', request);
      return job.waitUntilFinished(events);
    },
    async close() {
      await events.close();
      await queue.close();
    },
  };
}
