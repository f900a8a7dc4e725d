import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { TimeChart } from '../../charts/time-chart.tsx';
import { showTime } from '../../show-time.ts';
import {
  latencySpec,
  queueSpec,
  summariseLatency,
  summariseQueues,
  summariseThroughput,
  throughputSpec,
} from './describe-statistics.ts';
import type { Statistics } from './fleet-types.ts';
import type { QueueSample } from './queue-history.ts';

export function Charts({ statistics, samples }: { statistics: Statistics; samples: readonly QueueSample[] }): VNode {
  const throughput = useMemo(() => throughputSpec(statistics), [statistics]);
  const latency = useMemo(() => latencySpec(statistics), [statistics]);
  const queues = useMemo(() => queueSpec(samples), [samples]);
  const { countedFrom, from } = statistics;
  return (
    <section class="fleet-section" aria-labelledby="charts-title">
      <h2 id="charts-title">Calls over time</h2>
      {countedFrom > from ? <p class="hint">{`Nothing was counted before ${showTime(countedFrom)}.`}</p> : null}
      <div class="charts">
        <TimeChart title="Throughput by outcome" summary={summariseThroughput(statistics)} spec={throughput} />
        <TimeChart title="How long tools ran" summary={summariseLatency(statistics)} spec={latency} />
        <TimeChart title="Calls waiting, by pool" summary={summariseQueues(samples)} spec={queues} />
      </div>
    </section>
  );
}
