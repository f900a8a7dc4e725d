import { z } from '@hono/zod-openapi';
import type { ListedApprovalView } from './approval-schema.ts';
import type { CallRow } from './call-schema.ts';
import type { StatisticsView } from './statistics-schema.ts';
import type { WorkerView } from './worker-schema.ts';

export const EVENT_TOPICS = ['calls', 'approvals', 'workers', 'statistics'] as const;
export type EventTopic = (typeof EVENT_TOPICS)[number];

const TOPICS_PATTERN = new RegExp(`^(${EVENT_TOPICS.join('|')})(,(${EVENT_TOPICS.join('|')}))*$`);

export const eventsQuery = z.strictObject({
  topics: z
    .string()
    .max(100)
    .regex(TOPICS_PATTERN, `expected some of ${EVENT_TOPICS.join(', ')}, with commas between`)
    .optional()
    .openapi({ description: 'Absent: all of them.', example: 'calls,approvals' }),
});

/**
 * The events of the stream, by name. `resync`: some events are missing; read the lists again. `worker`: the whole fleet, sent whenever
 * something about it changed.
 */
export interface ServerEvents {
  readonly call: CallRow;
  readonly approval: ListedApprovalView;
  readonly worker: { readonly items: readonly WorkerView[] };
  readonly statistics: StatisticsView;
  readonly resync: { readonly reason: 'new' | 'too-old' | 'too-slow' };
}
