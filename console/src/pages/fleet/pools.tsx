import type { VNode } from 'preact';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Inert } from '../../components/inert.tsx';
import { Empty } from '../../components/states.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { describeWaiting, showCount } from './describe-statistics.ts';
import type { Queue, Worker } from './fleet-types.ts';
import { sumByPool } from './queue-history.ts';
import { WorkerHealth } from './worker-health.tsx';

export function Pools({
  workers,
  queues,
}: {
  readonly workers: readonly Worker[];
  readonly queues: readonly Queue[];
}): VNode {
  const queued = sumByPool(queues, 'queued');
  const backlog = sumByPool(queues, 'backlog');
  const pools = [...new Set([...workers.map(({ pool }) => pool), ...Object.keys(queued)])].sort();
  return (
    <section class="fleet-section" aria-labelledby="workers-title">
      <h2 id="workers-title">Workers</h2>
      {pools.length === 0 ? <Empty title="No worker is alive.">Calls wait until one is started.</Empty> : null}
      {pools.map((pool) => (
        <Pool
          key={pool}
          pool={pool}
          workers={workers.filter((worker) => worker.pool === pool)}
          queued={queued[pool] ?? 0}
          backlog={backlog[pool] ?? 0}
        />
      ))}
    </section>
  );
}

function Pool({
  pool,
  workers,
  queued,
  backlog,
}: {
  readonly pool: string;
  readonly workers: readonly Worker[];
  readonly queued: number;
  readonly backlog: number;
}): VNode {
  const running = workers.reduce((sum, worker) => sum + worker.running, 0);
  const slots = workers.reduce((sum, worker) => sum + (worker.state === 'draining' ? 0 : worker.concurrency), 0);
  const isServed = workers.some(({ state }) => state === 'serving');
  return (
    <div class="pool">
      <h3 class="pool-head">
        <span>
          Pool <Inert text={pool} />
        </span>
        <span class="hint">{`${describeWaiting(queued, backlog)}, ${showCount(running)} running, ${showCount(slots)} slots`}</span>
        {isServed ? null : <Badge tone={queued > 0 ? 'bad' : 'warning'}>nobody serves it</Badge>}
      </h3>
      {workers.length === 0 ? null : (
        <Table
          caption={`Workers of pool ${pool}`}
          columns={COLUMNS}
          rows={workers}
          keyOf={({ workerId }) => workerId}
          stacks
        />
      )}
    </div>
  );
}

const STATE_TONES: Readonly<Record<Worker['state'], Tone>> = { starting: 'info', serving: 'good', draining: 'warning' };

const COLUMNS: readonly Column<Worker>[] = [
  {
    title: 'Worker',
    cell: ({ workerId, host, pid, release }) => (
      <span class="stacked">
        <span class="mono">
          <Inert text={workerId} />
        </span>
        <span class="hint">
          <Inert text={`${host}, pid ${pid}, ${release}`} />
        </span>
      </span>
    ),
  },
  { title: 'State', cell: ({ state }) => <Badge tone={STATE_TONES[state] ?? 'neutral'}>{state}</Badge> },
  { title: 'Running', cell: (worker) => <Load worker={worker} /> },
  {
    title: 'Modules',
    cell: ({ modules }) =>
      modules.length === 0 ? (
        '–'
      ) : (
        <details>
          <summary>{modules.length}</summary>
          <ul class="mono">
            {modules.map(({ id, digest }) => (
              <li key={id} title={digest}>
                <Inert text={id} />
              </li>
            ))}
          </ul>
        </details>
      ),
  },
  { title: 'Health', cell: (worker) => <WorkerHealth worker={worker} /> },
  { title: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
];

function Load({ worker: { running, concurrency, workerId } }: { readonly worker: Worker }): VNode {
  return (
    <span class="load">
      <meter min={0} max={concurrency} value={running} aria-label={`Running on ${workerId}`} />
      <span>{`${running} of ${concurrency}`}</span>
    </span>
  );
}
