import type { HookHealth } from '../../../../src/domain/policy/hook.ts';
import type { ServiceHealth } from '../../../../src/domain/tool/service.ts';
import type { LoopView, StatisticsView } from '../../../../src/gateway/api/statistics-schema.ts';
import type { QueueView, WorkerView } from '../../../../src/gateway/api/worker-schema.ts';

export type { Paused } from '../../../../src/domain/policy/policy.ts';
export type Statistics = StatisticsView;
/** The counts of one tool or one agent. */
export type Share = Statistics['totals']['byTool'][number];
export type LoopEnding = LoopView;
export type Queue = QueueView;
export type Worker = Omit<WorkerView, 'hooks' | 'services'> & {
  readonly hooks?: readonly HookHealth[];
  readonly services?: readonly ServiceHealth[];
};
