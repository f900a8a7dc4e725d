export interface Scrape {
  readonly text: string;
  /** The names of all metrics. Those of histograms are not split: `x_bucket`, `x_sum` and `x_count` belong to `x`. */
  readonly names: readonly string[];
  /** The sum of all series with these labels; undefined if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  labelValues(name: string, label: string): string[];
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export async function scrape(healthUrl: string): Promise<Scrape> {
  const response = await fetch(`${healthUrl}/metrics`);
  const type = response.headers.get('content-type') ?? '';
  if (response.status !== 200 || !type.startsWith('text/plain; version=0.0.4')) {
    throw new Error(`/metrics answered ${response.status} ${type}`);
  }
  return readScrape(await response.text());
}

/** Reads the Prometheus text format, as far as this product writes it. */
export function readScrape(text: string): Scrape {
  const lines = text.split('\n');
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(readSample);
  const matching = (name: string, labels: Readonly<Record<string, string>>): Sample[] =>
    samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return {
    text,
    names: lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' ')[2]!),
    value(name, labels = {}) {
      const found = matching(name, labels);
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    labelValues: (name, label) => [...new Set(matching(name, {}).map(({ labels }) => labels[label] ?? ''))].sort(),
  };
}

function readSample(line: string): Sample {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`this is no sample: ${line}`);
  const labels = [...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name!, value!]);
  return { name: match[1]!, labels: Object.fromEntries(labels) as Record<string, string>, value: Number(match[3]) };
}
