import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { METRICS, type MetricName } from '../../src/observe/metrics/metric-table.ts';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

const dashboard = JSON.parse(
  readFileSync(new URL('../../deploy/grafana/sallyport.json', import.meta.url), 'utf8'),
) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const queries = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target }))),
  ...dashboard.templating.list.flatMap(({ query }) =>
    typeof query === 'string' ? [] : [{ title: 'variable', expr: query.query, legendFormat: '' }],
  ),
];
const METRIC = /\b(?:sallyport|process|nodejs)_[a-z_]+/g;

/** The entry of the table that a name in a query means; undefined when there is none. */
function metricOf(name: string): MetricName | undefined {
  const whole = name.replace(/_(bucket|sum|count)$/, '');
  if (Object.hasOwn(METRICS, name) && METRICS[name as MetricName].kind !== 'histogram') return name as MetricName;
  const isHistogram = Object.hasOwn(METRICS, whole) && METRICS[whole as MetricName].kind === 'histogram';
  return isHistogram && whole !== name ? (whole as MetricName) : undefined;
}

describe('the Grafana dashboard', () => {
  it('asks only for metrics that there are', () => {
    const unknown = queries.flatMap(({ title, expr }) =>
      (expr.match(METRIC) ?? []).filter((name) => metricOf(name) === undefined).map((name) => `${title}: ${name}`),
    );
    expect(unknown).toStrictEqual([]);
  });

  it('groups and filters by labels that they have', () => {
    // Labels that Prometheus and histograms add.
    const given = ['le', 'instance', 'job'];
    const wrong = queries.flatMap(({ title, expr, legendFormat }) => {
      const labels = (expr.match(METRIC) ?? []).flatMap((name): readonly string[] => METRICS[metricOf(name)!].labels);
      const used = [
        ...[...expr.matchAll(/\b(?:by|on|group_left) \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', ')),
        ...[...expr.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)"/g)].map(([, label]) => label!),
        ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!),
      ];
      return used.filter((label) => ![...labels, ...given].includes(label)).map((label) => `${title}: ${label}`);
    });
    expect(wrong).toStrictEqual([]);
  });

  it('takes rates of counters and of nothing else', () => {
    const wrong = queries.flatMap(({ expr }) =>
      [...expr.matchAll(/\b(?:rate|increase)\((\w+)/g)]
        .map(([, name]) => name!)
        .filter((name) => METRICS[metricOf(name)!].kind === 'gauge'),
    );
    expect(wrong).toStrictEqual([]);
  });

  it('shows every metric of calls and of the plane somewhere', () => {
    const shown = new Set(queries.flatMap(({ expr }) => (expr.match(METRIC) ?? []).map(metricOf)));
    // Not needed: a single worker's metrics repeat those of the fleet.
    const left = ['sallyport_worker_', 'sallyport_calls_cancelled_total', 'process_start', 'nodejs_heap'];
    const missing = (Object.keys(METRICS) as MetricName[]).filter(
      (name) => !shown.has(name) && !left.some((each) => name.startsWith(each)),
    );
    expect(missing).toStrictEqual([]);
  });
});
