import { readFileSync } from 'node:fs';
import { asReport } from '../harness/check-report.ts';
import { UsageProblem } from '../harness/options.ts';
import type { BenchReport, Ratio } from '../harness/report.ts';

/** The file that `all` writes: the reports of one run on one machine. */
export interface WholeReport {
  readonly version: 1;
  readonly takenAt: string;
  readonly machine: string;
  /** Load per core, before and after. Above 0.5, other programs were running too. */
  readonly load: { readonly before: number; readonly after: number };
  readonly quick: boolean;
  readonly benches: readonly BenchReport[];
  /** Benches that ended without a report, and the reason. */
  readonly failed: readonly { readonly bench: string; readonly problem: string }[];
}

export const BUSY = 0.5;

/** Warns about sizes so small that the figures mean nothing, and about a machine that was used by other programs. */
export function remarksOn({ quick, load }: Pick<WholeReport, 'quick' | 'load'>): string[] {
  const remarks: string[] = [];
  if (quick) remarks.push('Tiny sizes: these figures say that the benches run, and nothing more.');
  if (load.before > BUSY) {
    remarks.push(
      `Measured on a loaded machine (${load.before.toFixed(1)} processes per core wanted to run): read the ratios only.`,
    );
  }
  return remarks;
}

export function allRatios({ benches }: Pick<WholeReport, 'benches'>): Ratio[] {
  return benches.flatMap(({ ratios }) => ratios);
}

/** Reads a report of `all`, or of one bench with `--json`. */
export function readWholeReport(file: string): WholeReport {
  const value = readJson(file);
  try {
    return asWholeReport(value);
  } catch (error) {
    throw new UsageProblem(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function asWholeReport(value: unknown): WholeReport {
  if (typeof value === 'object' && value !== null && 'benches' in value) {
    const { version, benches } = value as WholeReport;
    if (version !== 1) throw new Error(`It has version ${String(version)}; this release reads version 1.`);
    if (!Array.isArray(benches)) throw new Error('Its benches are no list.');
    return { ...(value as WholeReport), benches: benches.map(asReport) };
  }
  const single = asReport(value);
  const { takenAt = '', machine = '', load = { before: 0, after: 0 } } = value as Partial<WholeReport>;
  return { version: 1, takenAt, machine, load, quick: false, benches: [single], failed: [] };
}

export function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new UsageProblem(`${file} cannot be read.`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageProblem(`${file} is no JSON.`);
  }
}
