import { suggestName } from '../../base/near-names.ts';
import { quoted } from './module-problem.ts';
import { isPlainObject, NOT_PLAIN } from './plain-object.ts';
import { DEFAULT_LIMITS, type Effect, type ToolLimits } from '../../domain/tool/tool.ts';

const BOUNDS: Record<keyof ToolLimits, { readonly from: number; readonly to: number }> = {
  timeoutMs: { from: 1, to: 7 * 24 * 60 * 60 * 1000 },
  maxAttempts: { from: 1, to: 100 },
  waitMs: { from: 0, to: 24 * 60 * 60 * 1000 },
  concurrency: { from: 1, to: 10_000 },
  maxResultBytes: { from: 256, to: 256 * 1024 * 1024 },
};

export type ResolvedLimits =
  | { readonly kind: 'limits'; readonly limits: ToolLimits }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * Checks the limits and adds the defaults. An unsafe tool has one attempt. If its author asks for more, the limits are rejected and not
 * silently reduced.
 */
export function resolveLimits(given: Partial<ToolLimits>, effect: Effect): ResolvedLimits {
  if (!isPlainObject(given)) return problem(`has "limits", which ${NOT_PLAIN}`);
  for (const [name, value] of Object.entries(given)) {
    const bounds = Object.hasOwn(BOUNDS, name) ? BOUNDS[name as keyof ToolLimits] : undefined;
    if (bounds === undefined)
      return problem(`has an unknown limit ${quoted(name)}; ${suggestName(name, Object.keys(BOUNDS))}`);
    if (!Number.isSafeInteger(value) || value < bounds.from || value > bounds.to) {
      return problem(`has ${name} ${String(value)}; it must be a whole number from ${bounds.from} to ${bounds.to}`);
    }
  }
  if (effect === 'unsafe' && (given.maxAttempts ?? 1) > 1) {
    return problem(`has effect "unsafe" and maxAttempts ${given.maxAttempts}; an unsafe tool is never started twice`);
  }
  const defaults = effect === 'unsafe' ? { ...DEFAULT_LIMITS, maxAttempts: 1 } : DEFAULT_LIMITS;
  return { kind: 'limits', limits: { ...defaults, ...given } };
}

function problem(text: string): ResolvedLimits {
  return { kind: 'problem', problem: text };
}
