import { z } from '@hono/zod-openapi';
import { limitQuery, moment, pageOf, wholeNumber } from './page-schema.ts';

export const STATISTICS_LIMITS = Object.freeze({
  minWindowMs: 60_000,
  usualWindowMs: 60 * 60_000,
  maxWindowMs: 24 * 60 * 60_000,
  usualBuckets: 60,
  maxBuckets: 500,
});

/** Quantiles of how long tools ran, in milliseconds. Absent if nothing ran. */
const quantiles = { p50: z.number().optional(), p90: z.number().optional(), p99: z.number().optional() };
const byOutcome = z.record(z.string(), z.int());

const share = z.strictObject({ name: z.string(), calls: z.int(), notOk: z.int(), ...quantiles });

export const statisticsSchema = z
  .strictObject({
    from: moment,
    to: moment,
    bucketMs: z.int(),
    buckets: z.array(z.strictObject({ at: moment, calls: z.int(), byOutcome, ...quantiles })),
    totals: z.strictObject({
      calls: z.int(),
      byOutcome,
      ...quantiles,
      /** The twenty names with the most calls. */
      byTool: z.array(share),
      byAgent: z.array(share),
    }),
    loops: z.strictObject({ warned: z.int(), blocked: z.int() }),
    /** Nothing before this moment was counted: the trail does not reach back further, or it was longer than what is read at the start. */
    countedFrom: moment,
  })
  .meta({ id: 'Statistics' });
export type StatisticsView = z.infer<typeof statisticsSchema>;

export const statisticsQuery = z.strictObject({
  windowMs: wholeNumber(STATISTICS_LIMITS.minWindowMs, STATISTICS_LIMITS.maxWindowMs).optional(),
  buckets: wholeNumber(1, STATISTICS_LIMITS.maxBuckets).optional(),
});

export const loopSchema = z
  .strictObject({
    at: moment,
    callId: z.string(),
    agent: z.string(),
    tool: z.string(),
    run: z.string(),
    detector: z.string(),
    kind: z.enum(['warned', 'blocked']),
  })
  .meta({ id: 'LoopEnding' });
export type LoopView = z.infer<typeof loopSchema>;
export const loopPageSchema = pageOf(loopSchema).meta({ id: 'LoopPage' });
export const loopListQuery = z.strictObject({ limit: limitQuery });
