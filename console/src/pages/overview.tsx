import type { VNode } from 'preact';
import { ERROR_KINDS, REFUSED_KINDS } from '../../../src/domain/call/call-filter.ts';
import type { CatalogView } from '../../../src/gateway/api/catalog-schema.ts';
import { api, withQuery } from '../api.ts';
import type { CallRow, Page } from '../api-types.ts';
import { PageHead } from '../components/page-head.tsx';
import { Failure, Loading } from '../components/states.tsx';
import { holdsScope } from '../holds-scope.ts';
import { useAtMostEvery } from '../use-at-most-every.ts';
import { useEvery } from '../use-every.ts';
import { useLive } from '../use-live.ts';
import { useResource } from '../use-resource.ts';
import type { Queue, Statistics, Worker } from './fleet/fleet-types.ts';
import { Endings } from './overview/endings.tsx';
import { Panel } from './overview/panel.tsx';
import { Serving } from './overview/serving.tsx';
import { Waiting } from './overview/waiting.tsx';
import './overview/overview.css';

const DAY_MS = 24 * 60 * 60_000;
const SHOWN = 5;
const READ_EVERY_MS = 5000;
const CATALOG_EVERY_MS = 60_000;

/**
 * What a person should look at now: questions, failures, refusals, and the state of the workers. An approver without other scopes sees only
 * the questions.
 */
export function Overview(): VNode {
  return (
    <>
      <PageHead title="Overview" />
      <div class="overview">
        <Waiting />
        {holdsScope('operator', 'admin') ? <OperatorPanels /> : null}
      </div>
    </>
  );
}

function OperatorPanels(): VNode {
  const ends = useResource(readEnds, []);
  const fleet = useResource(readFleet, []);
  const catalog = useResource((signal) => api.get<CatalogView>('/v1/catalog', { signal }), []);
  const readEndsSoon = useAtMostEvery(READ_EVERY_MS, ends.reload);
  const readFleetSoon = useAtMostEvery(READ_EVERY_MS, fleet.reload);
  useLive('statistics', { onEvent: readEndsSoon, onResync: readEndsSoon });
  useLive('workers', { onEvent: readFleetSoon, onResync: readFleetSoon });
  useEvery(READ_EVERY_MS, readFleetSoon);
  useEvery(CATALOG_EVERY_MS, catalog.reload);
  const error = ends.error ?? fleet.error ?? catalog.error;
  const day = { last: '1d' };
  return (
    <>
      {error === undefined ? null : (
        <Failure error={error} onRetry={() => [ends, fleet, catalog].forEach(({ reload }) => reload())} />
      )}
      <Panel
        title="Failed in the last day"
        count={ends.data?.failed}
        href={withQuery('/console/calls', { outcome: 'errors', ...day })}
        all="All errors"
      >
        {ends.data === undefined ? <Loading /> : <Endings calls={ends.data.errors} none="No call failed." />}
      </Panel>
      <Panel
        title="Denied or blocked in the last day"
        count={ends.data?.refused}
        href={withQuery('/console/calls', { outcome: 'refused', ...day })}
        all="All refusals"
      >
        {ends.data === undefined ? <Loading /> : <Endings calls={ends.data.refusals} none="No call was refused." />}
      </Panel>
      <Panel title="Serving" href="/console/fleet" all="Fleet">
        {fleet.data === undefined ? <Loading /> : <Serving {...fleet.data} modules={catalog.data?.modules ?? []} />}
      </Panel>
    </>
  );
}

async function readEnds(signal: AbortSignal): Promise<{
  readonly failed: number;
  readonly refused: number;
  readonly errors: readonly CallRow[];
  readonly refusals: readonly CallRow[];
}> {
  const statistics = await api.get<Statistics>('/v1/statistics', { query: { windowMs: DAY_MS, buckets: 1 }, signal });
  const list = (outcome: string): Promise<Page<CallRow>> =>
    api.get('/v1/calls', { query: { state: 'settled', outcome, from: statistics.to - DAY_MS, limit: SHOWN }, signal });
  const [errors, refusals] = await Promise.all([list('errors'), list('refused')]);
  const { byOutcome } = statistics.totals;
  const count = (kinds: readonly string[]): number => kinds.reduce((sum, kind) => sum + (byOutcome[kind] ?? 0), 0);
  return { failed: count(ERROR_KINDS), refused: count(REFUSED_KINDS), errors: errors.items, refusals: refusals.items };
}

async function readFleet(signal: AbortSignal): Promise<{
  readonly workers: readonly Worker[];
  readonly queues: readonly Queue[];
}> {
  const [workers, queues] = await Promise.all([
    api.get<Page<Worker>>('/v1/workers', { signal }),
    api.get<Page<Queue>>('/v1/queues', { signal }),
  ]);
  return { workers: workers.items, queues: queues.items };
}
