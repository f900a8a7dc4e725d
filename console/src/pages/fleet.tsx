import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { Page } from '../api-types.ts';
import { PageHead } from '../components/page-head.tsx';
import { Failure, Loading } from '../components/states.tsx';
import { useLive } from '../use-live.ts';
import { useResource } from '../use-resource.ts';
import { Charts } from './fleet/charts.tsx';
import type { LoopEnding, Queue, Statistics, Worker } from './fleet/fleet-types.ts';
import { Loops } from './fleet/loops.tsx';
import { PausePanel } from './fleet/pause-panel.tsx';
import { Pools } from './fleet/pools.tsx';
import { noteQueues, queueSamples } from './fleet/queue-history.ts';
import { Shares } from './fleet/shares.tsx';
import { Unserved } from './fleet/unserved.tsx';
import { useAtMostEvery } from '../use-at-most-every.ts';
import { useEvery } from '../use-every.ts';
import './fleet/fleet.css';

const MINUTE_MS = 60_000;
const WINDOWS = [
  { title: '15 min', windowMs: 15 * MINUTE_MS },
  { title: '1 h', windowMs: 60 * MINUTE_MS },
  { title: '6 h', windowMs: 6 * 60 * MINUTE_MS },
  { title: '24 h', windowMs: 24 * 60 * MINUTE_MS },
] as const;
const BUCKETS = 60;
const MAX_LOOPS = 50;
const LOOK_EVERY_MS = 5000;
const COUNT_EVERY_MS = 2000;

export function Fleet(): VNode {
  const [windowMs, setWindowMs] = useState<number>(WINDOWS[1].windowMs);
  const statistics = useResource(
    (signal) => api.get<Statistics>('/v1/statistics', { query: { windowMs, buckets: BUCKETS }, signal }),
    [windowMs],
  );
  const workers = useResource((signal) => api.get<Page<Worker>>('/v1/workers', { signal }), []);
  const queues = useResource(async (signal) => {
    const page = await api.get<Page<Queue>>('/v1/queues', { signal });
    noteQueues(page.items);
    return page;
  }, []);
  const loops = useResource(
    (signal) => api.get<Page<LoopEnding>>('/v1/loops', { query: { limit: MAX_LOOPS }, signal }),
    [],
  );

  // The event only says that something has changed. The page then requests the counts for its own time window.
  const readCounts = useAtMostEvery(COUNT_EVERY_MS, () => {
    statistics.reload();
    loops.reload();
  });
  useLive('statistics', { onEvent: readCounts, onResync: readCounts });
  useLive('workers', {
    onEvent: (data) => workers.change((page) => ({ ...page, ...(data as Page<Worker>) })),
    onResync: workers.reload,
  });
  // Queues have no events, and the time window moves on even if nothing happens.
  useEvery(LOOK_EVERY_MS, () => {
    queues.reload();
    readCounts();
  });

  const error = statistics.error ?? workers.error ?? queues.error ?? loops.error;
  return (
    <>
      <PageHead title="Fleet">
        <WindowChoice windowMs={windowMs} onChange={setWindowMs} />
      </PageHead>
      {error === undefined ? null : (
        <Failure
          error={error}
          onRetry={() => [statistics, workers, queues, loops].forEach((resource) => resource.reload())}
        />
      )}
      <PausePanel />
      {workers.data === undefined || queues.data === undefined ? (
        <Loading what="Reading workers" />
      ) : (
        <Pools workers={workers.data.items} queues={queues.data.items} />
      )}
      {workers.data === undefined ? null : <Unserved workers={workers.data.items} />}
      {statistics.data === undefined ? (
        <Loading what="Reading statistics" />
      ) : (
        <>
          <Charts statistics={statistics.data} samples={queueSamples.value} />
          <Shares totals={statistics.data.totals} />
          <Loops counts={statistics.data.loops} endings={loops.data?.items ?? []} />
        </>
      )}
    </>
  );
}

function WindowChoice({ windowMs, onChange }: { windowMs: number; onChange: (windowMs: number) => void }): VNode {
  return (
    <fieldset class="window-choice">
      <legend class="visually-hidden">Time that the charts show</legend>
      {WINDOWS.map((one) => (
        <label key={one.windowMs}>
          <input
            type="radio"
            name="window"
            checked={one.windowMs === windowMs}
            onChange={() => onChange(one.windowMs)}
          />
          <span>{one.title}</span>
        </label>
      ))}
    </fieldset>
  );
}
