import { seededRandom, type SeededRandom } from './seeded-random.ts';
import type { ToolName } from './tools.ts';

/** All fates, in the order in which the report lists them. */
export const CALL_FATES = [
  'plain',
  'approved',
  'refused-by-people',
  'raced-by-people',
  'left-to-expire',
  'cancelled',
  'revoked',
  'duplicate',
  'other-body',
  'gated',
  'nested',
  'poison',
] as const;
export type CallFate = (typeof CALL_FATES)[number];

// This is a type, not an interface, because only types fit into a JsonObject.
type PlannedArguments = {
  readonly key: string;
  readonly ms: number;
  readonly fate?: string;
  readonly pad?: string;
  /** How long a hook holds the call. Set only for calls that are cancelled, revoked or gated. */
  readonly hookMs?: number;
};

export interface PlannedCall {
  readonly index: number;
  readonly fate: CallFate;
  /** The caller process that submits the call. */
  readonly caller: number;
  /** Index in `Plan.sessions`. */
  readonly session: number;
  readonly tool: ToolName;
  readonly key: string;
  readonly args: PlannedArguments;
  /** Time after the start of the run. */
  readonly submitAtMs: number;
  readonly deadlineMs: number;
  readonly waitMs: number;
  readonly cancelAfterMs?: number;
}

export interface PlannedSession {
  readonly subject: string;
  readonly revokeAtMs?: number;
}

export interface Plan {
  readonly seed: number;
  readonly callers: number;
  readonly lastsMs: number;
  readonly sessions: readonly PlannedSession[];
  readonly calls: readonly PlannedCall[];
}

export interface PlanOptions {
  readonly seed: number;
  readonly calls: number;
  readonly callers: number;
  /** Period over which the submissions are spread. */
  readonly lastsMs: number;
}

const SUBJECTS = 12;
const DOOMED_CALLS = 10;
const WEIGHTS: readonly (readonly [CallFate, number])[] = [
  ['plain', 64],
  ['approved', 5],
  ['refused-by-people', 2],
  ['raced-by-people', 2],
  ['left-to-expire', 2],
  ['cancelled', 7],
  ['revoked', 1],
  ['duplicate', 4],
  ['other-body', 2],
  ['gated', 7],
  ['nested', 4],
];
const PLAIN_TOOLS: readonly (readonly [ToolName, number])[] = [
  ['read', 20],
  ['put', 20],
  ['send', 30],
  ['line', 12],
  ['turn', 8],
  ['slowRead', 4],
  ['slowSend', 6],
];
const POISON_EVERY = 2500;
/** After a hold of up to 250 ms the worker may still trust its last verdict. After a longer one it has to ask the store again. */
const HOOK_MS: readonly number[] = [0, 0, 100, 400, 700, 1200];

/** Plans everything that the callers do. The plan depends only on the options; which call a fault hits depends on the timing of the run. */
export function planWorkload(options: PlanOptions): Plan {
  const random = seededRandom(options.seed);
  const sessions: PlannedSession[] = Array.from({ length: SUBJECTS }, (_, index) => ({ subject: `s${index}` }));
  const calls: PlannedCall[] = [];
  const add = (call: Omit<PlannedCall, 'index'>): void => void calls.push({ index: calls.length, ...call });
  while (calls.length < options.calls) {
    const isPoison = calls.length % POISON_EVERY === Math.floor(POISON_EVERY / 5);
    const fate: CallFate = isPoison ? 'poison' : random.weighted(WEIGHTS);
    const base = baseOf(calls.length, random, options, sessions);
    if (fate === 'revoked') addDoomed(base, random, sessions, add);
    else for (const call of callsOf(fate, base, random, options)) add(call);
  }
  return { seed: options.seed, callers: options.callers, lastsMs: options.lastsMs, sessions, calls };
}

type Base = Omit<PlannedCall, 'index' | 'fate' | 'tool'>;

function baseOf(number: number, random: SeededRandom, options: PlanOptions, sessions: readonly unknown[]): Base {
  const key = `k${options.seed}-${number}`;
  const pad = random.next() < 0.05 ? { pad: 'x'.repeat(random.between(1000, 20_000)) } : {};
  return {
    caller: random.between(0, options.callers - 1),
    session: random.between(0, Math.min(SUBJECTS, sessions.length) - 1),
    key,
    args: { key, ms: 0, ...pad },
    submitAtMs: Math.floor((number / options.calls) * options.lastsMs),
    deadlineMs: 60_000,
    waitMs: random.pick([200, 1000, 5000]),
  };
}

function callsOf(fate: CallFate, base: Base, random: SeededRandom, options: PlanOptions): Omit<PlannedCall, 'index'>[] {
  const one = (tool: ToolName, more: Partial<Base['args']> = {}): Omit<PlannedCall, 'index'> => ({
    ...base,
    fate,
    tool,
    args: { ...base.args, ...more },
  });
  switch (fate) {
    case 'plain': {
      const tool = random.weighted(PLAIN_TOOLS);
      return [one(tool, { ms: msOf(tool, random) })];
    }
    case 'approved':
      return [one('asked', { fate: 'allow', ms: random.pick([0, 0, 20]) })];
    case 'refused-by-people':
      return [one('asked', { fate: 'deny' })];
    case 'raced-by-people':
      return [one('asked', { fate: 'race' })];
    case 'left-to-expire':
      return [one('asked', { fate: 'expire' })];
    case 'cancelled': {
      const tool = random.pick(['slowRead', 'slowSend', 'line', 'send', 'asked'] as const);
      const cancelAfterMs = random.pick([0, 5, 30, 100, 400, 800]);
      const args =
        tool === 'asked' ? { fate: 'late' } : { ms: random.between(500, 3000), hookMs: random.pick(HOOK_MS) };
      return [{ ...one(tool, args), cancelAfterMs }];
    }
    case 'duplicate': {
      const first = one(random.pick(['send', 'put', 'slowSend'] as const), { ms: random.pick([0, 5, 200]) });
      return [first, { ...first, caller: (first.caller + 1) % options.callers }];
    }
    case 'other-body': {
      const first = one('send', { ms: random.pick([0, 20]) });
      const second = { ...first, caller: (first.caller + 1) % options.callers };
      return [first, { ...second, args: { ...first.args, ms: first.args.ms + 1 } }];
    }
    case 'gated':
      return [one(random.pick(['gated', 'gatedSend'] as const), { hookMs: random.pick(HOOK_MS) })];
    case 'nested':
      return [one('nest', { ms: random.pick([0, 0, 10, 300]) })];
    case 'poison':
      return [one('poison')];
    case 'revoked':
      return [];
  }
}

function msOf(tool: ToolName, random: SeededRandom): number {
  if (tool === 'slowRead' || tool === 'slowSend') return random.between(200, 1800);
  if (tool === 'line' || tool === 'turn') return random.pick([0, 0, 2, 10]);
  return random.pick([0, 0, 0, 1, 5, 20]);
}

/** Adds a separate session with calls that queue behind each other. The session is revoked while most of its calls wait. */
function addDoomed(
  base: Base,
  random: SeededRandom,
  sessions: PlannedSession[],
  add: (call: Omit<PlannedCall, 'index'>) => void,
): void {
  const session = sessions.length;
  sessions.push({ subject: `doomed${session}`, revokeAtMs: base.submitAtMs + random.between(100, 1500) });
  for (let number = 0; number < DOOMED_CALLS; number += 1) {
    const key = `${base.key}-${number}`;
    const tool = number < 7 ? random.pick(['line', 'turn'] as const) : random.pick(['asked', 'send', 'read'] as const);
    const more = tool === 'asked' ? { fate: 'late' } : { hookMs: random.pick(HOOK_MS) };
    const args = { key, ms: tool === 'line' || tool === 'turn' ? 400 : 0, ...more };
    add({ ...base, fate: 'revoked', session, tool, key, args });
  }
}
