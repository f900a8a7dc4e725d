import { z } from '@hono/zod-openapi';
import { moment, pageOf } from './page-schema.ts';

const health = z.record(z.string(), z.unknown());

export const workerSchema = z
  .strictObject({
    workerId: z.string(),
    pool: z.string(),
    host: z.string(),
    pid: z.int(),
    release: z.string(),
    startedAt: moment,
    state: z.enum(['starting', 'serving', 'draining']),
    concurrency: z.int(),
    running: z.int(),
    crashes: z.int(),
    hooks: z.array(health).optional(),
    services: z.array(health).optional(),
    upstreams: z.array(health).optional(),
    modules: z.array(z.strictObject({ id: z.string(), digest: z.string() })),
    broken: z.array(z.strictObject({ id: z.string(), file: z.string(), reason: z.string() })),
  })
  .meta({ id: 'Worker' });
export type WorkerView = z.infer<typeof workerSchema>;
export const workerPageSchema = pageOf(workerSchema).meta({ id: 'WorkerPage' });

export const queueSchema = z
  .strictObject({
    lane: z.int(),
    pool: z.string(),
    /** Calls that wait in the queue and are not with a worker. */
    queued: z.int(),
    leased: z.int(),
    backlog: z.int().optional().openapi({
      description:
        'Calls that are not in the queue yet: earlier ones of their subject, or of its serial tool, have the turn.',
    }),
  })
  .meta({ id: 'Queue' });
export type QueueView = z.infer<typeof queueSchema>;
export const queuePageSchema = pageOf(queueSchema).meta({ id: 'QueuePage' });
