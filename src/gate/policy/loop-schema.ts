import { z } from 'zod';
import { NAME_PATTERN, splitToolId } from '../../domain/identity/ids.ts';
import {
  changeLoopSettings,
  DEFAULT_LOOP_SETTINGS,
  MAX_COUNTED,
  RUNG_NAMES,
  type LoopPolicy,
  type LoopSettings,
} from '../../domain/policy/loop-settings.ts';
import { agentName } from './agent-schema.ts';

const MAX_CALLS = 1_000_000_000;
const MAX_BREAKER = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

const whole = (from: number, to: number) => {
  const message = `expected a whole number from ${from} to ${to}`;
  return z.int(message).min(from, message).max(to, message);
};

const rungs = z.union(
  [
    z.literal(false),
    z.strictObject({ warn: whole(1, MAX_COUNTED).exactOptional(), block: whole(1, MAX_COUNTED).exactOptional() }),
  ],
  { error: `expected warn and block, whole numbers from 1 to ${MAX_COUNTED}, or false` },
);
const pattern = z.string().refine(isPattern, { message: 'expected module.tool, module.* or *' });
const costMessage = `expected a number above 0, up to ${MAX_CALLS}`;

const budgets = z.strictObject({
  callsPerRun: whole(1, MAX_CALLS).exactOptional(),
  callsPerTool: z
    .union([whole(1, MAX_CALLS), z.record(pattern, whole(1, MAX_CALLS))], {
      error: 'expected a whole number above 0, or a map of module.tool, module.* or * to such numbers',
    })
    .exactOptional(),
  wallTimeMs: whole(1000, 365 * DAY_MS).exactOptional(),
  cost: z.number(costMessage).positive(costMessage).max(MAX_CALLS, costMessage).exactOptional(),
});

const options = z.strictObject({
  enabled: z.boolean('expected true or false').exactOptional(),
  repeat: rungs.exactOptional(),
  poll: rungs.exactOptional(),
  cycle: rungs.exactOptional(),
  sameFailure: rungs.exactOptional(),
  anyFailure: rungs.exactOptional(),
  unknownTool: rungs.exactOptional(),
  inFlight: rungs.exactOptional(),
  breaker: z
    .union([z.literal(false), whole(1, MAX_BREAKER)], {
      error: `expected a whole number from 1 to ${MAX_BREAKER}, or false`,
    })
    .exactOptional(),
  endRun: whole(1, MAX_COUNTED).exactOptional(),
  paceMs: whole(1000, DAY_MS).exactOptional(),
  decayMs: whole(60_000, DAY_MS).exactOptional(),
  restMs: whole(1000, DAY_MS).exactOptional(),
  strictMs: whole(1000, 30 * DAY_MS).exactOptional(),
  budgets: budgets.exactOptional(),
});

/** The part `loops` of a policy. Numbers that are valid alone but impossible together are rejected; the message names both. */
export const loopsSchema = z
  .strictObject({ default: options.exactOptional(), agents: z.record(agentName, options).exactOptional() })
  .superRefine((given: LoopPolicy, context) => {
    const everybody = changeLoopSettings(DEFAULT_LOOP_SETTINGS, given.default ?? {});
    const problems = findImpossible(everybody).map((problem) => ({ ...problem, path: ['default', problem.at] }));
    // Agents inherit the defaults, so a problem in the defaults is reported only once.
    for (const [name, own] of problems.length > 0 ? [] : Object.entries(given.agents ?? {})) {
      const found = findImpossible(changeLoopSettings(everybody, own));
      problems.push(...found.map((problem) => ({ ...problem, path: ['agents', name, problem.at] })));
    }
    for (const { path, message } of problems) context.addIssue({ code: 'custom', path, message });
  }) satisfies z.ZodType<LoopPolicy>;

interface Impossible {
  readonly at: string;
  readonly message: string;
}

function findImpossible(settings: LoopSettings): Impossible[] {
  const found: Impossible[] = [];
  for (const name of RUNG_NAMES) {
    const own = settings[name];
    if (own !== false && own.warn >= own.block)
      found.push({ at: name, message: `warn ${own.warn} must be < block (${own.block})` });
  }
  const { repeat, breaker, paceMs, decayMs } = settings;
  if (repeat !== false && breaker !== false && breaker <= repeat.block)
    found.push({ at: 'breaker', message: `${breaker} must be > repeat.block (${repeat.block})` });
  if (paceMs >= decayMs) found.push({ at: 'paceMs', message: `${paceMs} must be < decayMs (${decayMs})` });
  return found;
}

/** The known keys at a path, for the hint about an unknown key. */
export function keysOfLoops(path: string): readonly string[] {
  if (path === 'loops') return Object.keys(loopsSchema.shape);
  if (path.endsWith('.budgets')) return Object.keys(budgets.shape);
  return /(^|\.)(default|agents\.[^.]*)$/.test(path) ? Object.keys(options.shape) : ['warn', 'block'];
}

function isPattern(text: string): boolean {
  if (text === '*') return true;
  const module = text.endsWith('.*') ? text.slice(0, -2) : undefined;
  return module === undefined ? splitToolId(text) !== undefined : NAME_PATTERN.test(module);
}
