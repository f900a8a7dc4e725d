import type { Ratio } from '../harness/report.ts';

/** Ratios that were measured once on an idle machine, and how far a run may differ from them. */
export interface Baseline {
  readonly version: 1;
  readonly takenAt: string;
  readonly machine: string;
  readonly ratios: Readonly<Record<string, BaselineRatio>>;
}

interface BaselineRatio {
  readonly value: number;
  readonly better: Ratio['better'];
  /** A fraction of the value: with 0.25 a ratio may be a quarter worse. If absent, the default of its bench is used. */
  readonly tolerance?: number;
}

/** Default tolerances, by the first part of the id. Ratios of interleaved runs of the same code differ by this much. */
const USUAL_TOLERANCES: Readonly<Record<string, number>> = {
  'round-trip': 0.25,
  embedded: 0.35,
  growth: 0.25,
  gate: 0.35,
  mcp: 0.35,
  approvals: 0.4,
  memory: 0.2,
  scaling: 0.35,
};
const OTHERWISE = 0.35;

export type Standing = 'same' | 'better' | 'worse' | 'new' | 'gone';

export interface Comparison {
  readonly id: string;
  readonly standing: Standing;
  readonly baseline: number | undefined;
  readonly now: number | undefined;
  /** Above 1 is worse, whether lower or higher ratios are better. */
  readonly worsening: number | undefined;
  readonly tolerance: number;
}

export function toleranceOf(id: string, own?: number): number {
  return own ?? USUAL_TOLERANCES[id.split('/')[0]!] ?? OTHERWISE;
}

/** Compares all ratios of both sides. Only a ratio that is worse than its tolerance allows is a regression. */
export function compareRatios(baseline: Baseline, now: readonly Ratio[]): Comparison[] {
  const current = new Map(now.map((ratio) => [ratio.id, ratio]));
  const known = Object.entries(baseline.ratios).map(([id, before]): Comparison => {
    const tolerance = toleranceOf(id, before.tolerance);
    const found = current.get(id);
    if (found === undefined) {
      return { id, standing: 'gone', baseline: before.value, now: undefined, worsening: undefined, tolerance };
    }
    const worsening = before.better === 'lower' ? found.value / before.value : before.value / found.value;
    const standing = worsening > 1 + tolerance ? 'worse' : worsening < 1 / (1 + tolerance) ? 'better' : 'same';
    return { id, standing, baseline: before.value, now: found.value, worsening, tolerance };
  });
  const added = now
    .filter(({ id }) => baseline.ratios[id] === undefined)
    .map(({ id, value }): Comparison => {
      return { id, standing: 'new', baseline: undefined, now: value, worsening: undefined, tolerance: toleranceOf(id) };
    });
  return [...known, ...added];
}

/** Makes a baseline from a run. Tolerances that were written into the old baseline by hand are kept. */
export function makeBaseline(
  source: { readonly takenAt: string; readonly machine: string },
  now: readonly Ratio[],
  old?: Baseline,
): Baseline {
  const ratios = now.map(({ id, value, better }) => {
    const tolerance = old?.ratios[id]?.tolerance;
    return [
      id,
      { value: Number(value.toPrecision(4)), better, ...(tolerance === undefined ? {} : { tolerance }) },
    ] as const;
  });
  return { version: 1, takenAt: source.takenAt, machine: source.machine, ratios: Object.fromEntries(ratios) };
}

export function asBaseline(value: unknown): Baseline {
  const { version, ratios } = (value ?? {}) as Partial<Baseline>;
  if (version !== 1 || typeof ratios !== 'object' || ratios === null)
    throw new Error('This is no baseline of version 1.');
  for (const [id, { value: figure, better }] of Object.entries(ratios)) {
    if (!(figure > 0) || (better !== 'lower' && better !== 'higher')) throw new Error(`Its ratio ${id} is not one.`);
  }
  return value as Baseline;
}
