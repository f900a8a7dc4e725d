import type { VNode } from 'preact';
import { Badge } from '../../components/badge.tsx';
import { Inert } from '../../components/inert.tsx';
import { findWorkerProblems } from '../fleet/find-worker-problems.ts';
import type { Queue, Worker } from '../fleet/fleet-types.ts';
import { describeWaiting } from '../fleet/describe-statistics.ts';
import { sumByPool } from '../fleet/queue-history.ts';
import { findUnserved } from './find-unserved.ts';

const SHOWN = 8;

export interface ServingProps {
  readonly workers: readonly Worker[];
  readonly queues: readonly Queue[];
  readonly modules: readonly { readonly id: string }[];
}

/** Pools with their workers, published modules without a worker, and the problems of workers. */
export function Serving({ workers, queues, modules }: ServingProps): VNode {
  const queued = sumByPool(queues, 'queued');
  const backlog = sumByPool(queues, 'backlog');
  const pools = [...new Set([...workers.map(({ pool }) => pool), ...Object.keys(queued)])].toSorted();
  const unserved = findUnserved(modules, workers);
  const problems = workers.flatMap((worker) => findWorkerProblems(worker));
  return (
    <>
      {pools.length === 0 ? <p class="hint">No worker is alive. Calls wait until one is started.</p> : null}
      <ul class="overview-list">
        {pools.slice(0, SHOWN).map((pool) => {
          const own = workers.filter((worker) => worker.pool === pool);
          const serving = own.filter(({ state }) => state === 'serving').length;
          const running = own.reduce((sum, worker) => sum + worker.running, 0);
          return (
            <li key={pool}>
              <strong>
                Pool <Inert text={pool} />
              </strong>
              {serving === 0 ? <Badge tone="bad">no worker serves it</Badge> : null}
              <span class="hint">{`${serving} serving, ${running} running, ${describeWaiting(queued[pool] ?? 0, backlog[pool] ?? 0)}`}</span>
            </li>
          );
        })}
        {unserved.slice(0, SHOWN).map((id) => (
          <li key={`module ${id}`}>
            <span>
              Module{' '}
              <span class="mono">
                <Inert text={id} />
              </span>
            </span>
            <Badge tone="warning">no live worker</Badge>
          </li>
        ))}
        {problems.slice(0, SHOWN).map(({ tone, text }, index) => (
          <li key={`trouble ${index}`}>
            <Badge tone={tone}>look</Badge>
            <span class="hint">
              <Inert text={text} />
            </span>
          </li>
        ))}
      </ul>
      {unserved.length > SHOWN ? <p class="hint">{`${unserved.length} modules have no live worker.`}</p> : null}
    </>
  );
}
