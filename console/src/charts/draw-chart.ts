import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { findIsolated, stackLayers, timeFormat, timeRange, type ChartSpec } from './chart-spec.ts';

/** A chart on a canvas. Only pages that show a chart load this code. */
export interface DrawnChart {
  update(spec: ChartSpec): void;
  destroy(): void;
}

const HEIGHT = 200;
const FONT = '12px system-ui, sans-serif';

/** Draws a chart. `onHover` gets the index of the time under the pointer, or undefined when the pointer leaves. */
export function drawChart(host: HTMLElement, first: ChartSpec, onHover: (index?: number) => void): DrawnChart {
  let spec = first;
  let colours = new Map<string, string>();
  const colourOf = (tone: string): string => {
    const known = colours.get(tone) ?? readColour(host, tone);
    colours.set(tone, known);
    return known;
  };
  let plot = create();
  const resize = new ResizeObserver(() => plot.setSize({ width: widthOf(host), height: HEIGHT }));
  resize.observe(host);
  const stopWatching = watchTheme(() => {
    colours = new Map();
    plot.redraw(true, true);
  });

  function create(): uPlot {
    return new uPlot(
      optionsOf(spec, widthOf(host), { colourOf, onHover, format: (value) => spec.format(value) }),
      dataOf(spec),
      host,
    );
  }

  return {
    update(next) {
      const isSame = labelsOf(next) === labelsOf(spec);
      spec = next;
      if (isSame) return plot.setData(dataOf(spec));
      plot.destroy();
      plot = create();
    },
    destroy() {
      resize.disconnect();
      stopWatching();
      plot.destroy();
    },
  };
}

interface Drawing {
  readonly colourOf: (tone: string) => string;
  readonly onHover: (index?: number) => void;
  readonly format: (value: number) => string;
}

function optionsOf({ kind, series }: ChartSpec, width: number, { colourOf, onHover, format }: Drawing): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: () => colourOf('axis'),
    grid: { stroke: () => colourOf('grid'), width: 1 },
    ticks: { show: false },
    font: FONT,
  };
  const layers = kind === 'stack' ? series.toReversed() : series;
  return {
    width,
    height: HEIGHT,
    ms: 1,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines' } },
    scales: {
      // The range is taken from the data: for a single value, uPlot passes a range that reaches a day into the future.
      ...(kind === 'lines'
        ? { x: { range: (plot: uPlot): uPlot.Range.MinMax => timeRange([...plot.data[0]]) ?? [null, null] } }
        : {}),
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 70,
        values: (_plot, splits) => splits.map(timeFormat(spanOf(splits))),
      },
      { ...axis, size: 56, space: 40, values: (_plot, splits) => splits.map(format) },
    ],
    series: [{}, ...layers.map(({ tone, label }) => seriesOf(kind, label, () => colourOf(tone)))],
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? undefined)] },
  };
}

function seriesOf(kind: ChartSpec['kind'], label: string, colour: () => string): uPlot.Series {
  if (kind === 'lines') {
    const isolated = (plot: uPlot, index: number): number[] => findIsolated([...(plot.data[index] ?? [])]);
    return { label, stroke: colour, width: 2, points: { show: false, filter: isolated, fill: colour, size: 7 } };
  }
  return { label, fill: colour, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [0.85, 48] }) };
}

function dataOf({ kind, times, series }: ChartSpec): uPlot.AlignedData {
  // The whole stack is drawn first, and each lower layer is drawn over it. So the layer with the highest sums comes first.
  const layers = kind === 'stack' ? stackLayers(series).toReversed() : series.map(({ values }) => [...values]);
  return [[...times], ...layers];
}

function labelsOf({ series }: ChartSpec): string {
  return JSON.stringify(series.map(({ label }) => label));
}

function spanOf(splits: readonly number[]): number {
  return (splits.at(-1) ?? 0) - (splits[0] ?? 0);
}

function widthOf(host: HTMLElement): number {
  return Math.max(host.clientWidth, 160);
}

/** The colour that the style sheets give this tone. A canvas cannot read custom properties. */
function readColour(host: HTMLElement, tone: string): string {
  const probe = document.createElement('span');
  probe.className = `tone-${tone}`;
  probe.hidden = true;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function watchTheme(onChange: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(onChange);
  system.addEventListener('change', onChange);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', onChange);
    chosen.disconnect();
  };
}
