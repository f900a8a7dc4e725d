import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { summariseValues, timeFormat, type ChartSpec } from './chart-spec.ts';
import type { DrawnChart } from './draw-chart.ts';
import './charts.css';

interface TimeChartProps {
  readonly title: string;
  /** What the chart shows, as a sentence. It replaces the chart for people who cannot see it. */
  readonly summary: string;
  readonly spec: ChartSpec;
}

export function TimeChart({ title, summary, spec }: TimeChartProps): VNode {
  const id = useId();
  const [hovered, setHovered] = useState<number>();
  return (
    <figure class="chart" aria-labelledby={`${id}-title`} aria-describedby={`${id}-summary`}>
      <figcaption>
        <h3 id={`${id}-title`}>{title}</h3>
        <p id={`${id}-summary`} class="chart-summary">
          {summary}
        </p>
      </figcaption>
      {/* Without series, there would be an axis with a legend of nothing. The summary says why. */}
      {spec.series.length === 0 ? null : (
        <>
          <Canvas spec={spec} onHover={setHovered} />
          <Legend spec={spec} hovered={hovered} />
          <ChartTable title={title} spec={spec} />
        </>
      )}
    </figure>
  );
}

function Canvas({ spec, onHover }: { readonly spec: ChartSpec; readonly onHover: (index?: number) => void }): VNode {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(spec);
  const drawn = useRef<DrawnChart | undefined>(undefined);
  latest.current = spec;
  useEffect(() => {
    let isGone = false;
    void import('./draw-chart.ts').then(({ drawChart }) => {
      if (isGone || host.current === null) return;
      drawn.current = drawChart(host.current, latest.current, onHover);
    });
    return () => {
      isGone = true;
      drawn.current?.destroy();
    };
  }, []);
  useEffect(() => drawn.current?.update(spec), [spec]);
  return <div class="chart-canvas" aria-hidden="true" ref={host} />;
}

/** The values at the time under the pointer. Without a pointer: the sum of a stack, or the newest value of a line. */
function Legend({ spec, hovered }: { readonly spec: ChartSpec; readonly hovered: number | undefined }): VNode {
  const { times, series, format, kind } = spec;
  const at = hovered === undefined ? undefined : times[hovered];
  const show = timeFormat((times.at(-1) ?? 0) - (times[0] ?? 0));
  return (
    <ul class="chart-legend" aria-hidden="true">
      <li>{at === undefined ? (kind === 'stack' ? 'in all' : 'last') : show(at)}</li>
      {series.map(({ label, tone, values }) => {
        const value = hovered === undefined ? summariseValues(values, kind) : values[hovered];
        return (
          <li key={label}>
            <span class={`chart-swatch tone-${tone}`} />
            {label} <b>{value === undefined || value === null ? '–' : format(value)}</b>
          </li>
        );
      })}
    </ul>
  );
}

function ChartTable({ title, spec }: { readonly title: string; readonly spec: ChartSpec }): VNode {
  const [isOpen, setOpen] = useState(false);
  const { times, series, format } = spec;
  const show = timeFormat((times.at(-1) ?? 0) - (times[0] ?? 0));
  return (
    <details class="chart-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title} as a table</summary>
      {isOpen && (
        <div class="chart-table-scroll" role="region" aria-label={`${title}, table`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map(({ label }) => (
                  <th scope="col" key={label}>
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((at, index) => (
                <tr key={at}>
                  <th scope="row">{show(at)}</th>
                  {series.map(({ label, values }) => {
                    const value = values[index];
                    return <td key={label}>{value === undefined || value === null ? '–' : format(value)}</td>;
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
