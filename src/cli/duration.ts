import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads a duration of at most 30 days, such as `500ms`, `30s`, `10m`, `2h` or `1d`.
 * Returns milliseconds. The unit is required: a number without a unit is ambiguous.
 */
export const readDuration = durationUpTo(30);

export function durationUpTo(maxDays: number): (text: string) => number {
  return (text) => {
    const match = /^(\d{1,10})(ms|s|m|h|d)$/.exec(text);
    const ms = match === null ? Number.NaN : Number(match[1]) * UNITS[match[2]!]!;
    if (ms >= 1 && ms <= maxDays * UNITS['d']!) return ms;
    throw new InvalidArgumentError(
      `Give a duration with its unit, above 0 and at most ${maxDays}d, such as 500ms, 30s, 10m or 2h.`,
    );
  };
}

/** Formats a duration in a unit that is easy to read: ms, s, min, h or days. */
export function showDuration(ms: number): string {
  const size = Math.abs(ms);
  if (size < 1000) return `${Math.round(ms)} ms`;
  if (size < 120_000) return `${Math.round(ms / 100) / 10} s`;
  if (size < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return size < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
}
