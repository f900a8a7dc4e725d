/** Thresholds of a detector. After `warn` calls without progress the model is warned; after `block` calls the next one does not run. */
export interface LoopLevels {
  readonly warn: number;
  readonly block: number;
}

/** How loops in a run are detected and stopped. `false` switches one detector off. */
export interface LoopSettings {
  /** False switches all detectors off. Budgets still apply. */
  readonly enabled: boolean;
  /** Thresholds for a call that a run repeats and that gets the same result each time. */
  readonly repeat: LoopLevels | false;
  /** Thresholds for a call of a polling tool that is repeated faster than the declared cadence, and gets the same result. */
  readonly poll: LoopLevels | false;
  /**
   * Thresholds for a cycle of two to eight calls in the same order with the same results. A cycle also needs some rounds: see
   * `CYCLE_ROUNDS`.
   */
  readonly cycle: LoopLevels | false;
  /** Thresholds for a tool that fails again and again in the same way, with any arguments. */
  readonly sameFailure: LoopLevels | false;
  /** Thresholds for failures one after the other, of any tools. */
  readonly anyFailure: LoopLevels | false;
  /** Thresholds for calls of the same tool name if there is no such tool. */
  readonly unknownTool: LoopLevels | false;
  /** Thresholds for a call that is sent again while equal earlier calls are still under way. */
  readonly inFlight: LoopLevels | false;
  /**
   * Number of calls that gave the same result for the third time or more, over at most eight different calls together. A further one of
   * these calls is then blocked.
   */
  readonly breaker: number | false;
  /** Number of blocked calls that ends the run. */
  readonly endRun: number;
  /** Repetitions that are at least this far apart are not counted: a caller that waits in between is not in a loop. */
  readonly paceMs: number;
  /** Attempts that are older than this do not count. */
  readonly decayMs: number;
  /**
   * After loop detection ended a run, its conversation gets no new run for this long. Counted from the end of the run; refused calls do not
   * extend it.
   */
  readonly restMs: number;
  /** For this long, each run that loop detection ended lowers the thresholds for later runs of its session. */
  readonly strictMs: number;
  readonly budgets: LoopBudgets;
}

/** What a run may use up. Absent: no limit. */
export interface LoopBudgets {
  readonly callsPerRun?: number;
  /** Max calls of each single tool. Keys are `module.tool`, `module.*` or `*`; the most specific key applies. */
  readonly callsPerTool?: number | Readonly<Record<string, number>>;
  readonly wallTimeMs?: number;
  /** Max cost, in the unit in which tools state their cost. */
  readonly cost?: number;
}

type Changes<Value> = Value extends LoopLevels ? Partial<LoopLevels> : Value;

/** Changes to loop settings. A setting that is left out keeps its value. */
export type LoopOptions = { readonly [Name in keyof LoopSettings]?: Changes<LoopSettings[Name]> };

export interface LoopPolicy {
  readonly default?: LoopOptions;
  /** Changes to `default` for single agents, by agent name. */
  readonly agents?: Readonly<Record<string, LoopOptions>>;
}

export const MAX_CYCLE = 8;
/** Rounds after which a cycle of calls counts as a loop. Two or three passes over the same things are normal work. */
export const CYCLE_ROUNDS: LoopLevels = Object.freeze({ warn: 3, block: 4 });

/**
 * Max value of a threshold. The history that the store keeps of a run must have room for the calls that reach a threshold, and for as many
 * blocked calls after them.
 */
export const MAX_COUNTED = 60;

export const DEFAULT_LOOP_SETTINGS: LoopSettings = Object.freeze({
  enabled: true,
  repeat: Object.freeze({ warn: 10, block: 20 }),
  poll: Object.freeze({ warn: 10, block: 20 }),
  cycle: Object.freeze({ warn: 10, block: 20 }),
  sameFailure: Object.freeze({ warn: 10, block: 20 }),
  anyFailure: Object.freeze({ warn: 15, block: 30 }),
  unknownTool: Object.freeze({ warn: 5, block: 10 }),
  inFlight: Object.freeze({ warn: 8, block: 16 }),
  breaker: 30,
  endRun: 10,
  paceMs: 30_000,
  decayMs: 30 * 60 * 1000,
  restMs: 10 * 60 * 1000,
  strictMs: 60 * 60 * 1000,
  budgets: Object.freeze({}),
});

export const RUNG_NAMES = [
  'repeat',
  'poll',
  'cycle',
  'sameFailure',
  'anyFailure',
  'unknownTool',
  'inFlight',
] as const satisfies readonly (keyof LoopSettings)[];

/** The settings with some of them changed. If a detector was off and gets one threshold, the other one comes from the defaults. */
export function changeLoopSettings(base: LoopSettings, options: LoopOptions): LoopSettings {
  const changed: Record<string, unknown> = { ...base, ...options };
  for (const name of RUNG_NAMES) {
    const given = options[name];
    if (given === undefined || given === false) continue;
    const before = base[name] === false ? DEFAULT_LOOP_SETTINGS[name] : base[name];
    changed[name] = Object.freeze({ ...before, ...given });
  }
  changed['budgets'] = Object.freeze({ ...base.budgets, ...options.budgets });
  return Object.freeze(changed) as unknown as LoopSettings;
}

interface Resolved {
  readonly everybody: LoopSettings;
  readonly agents: ReadonlyMap<string, LoopSettings>;
}

/** Cache by loop policy. A policy object never changes: another version of the policy is another object. */
const known = new WeakMap<LoopPolicy, Resolved>();

/** The loop settings of one agent. Computed once per policy; returns the same object each time. */
export function settingsFor(loops: LoopPolicy | undefined, agent: string): LoopSettings {
  if (loops === undefined) return DEFAULT_LOOP_SETTINGS;
  let resolved = known.get(loops);
  if (resolved === undefined) known.set(loops, (resolved = resolveAll(loops)));
  return resolved.agents.get(agent) ?? resolved.everybody;
}

function resolveAll(loops: LoopPolicy): Resolved {
  const everybody = changeLoopSettings(DEFAULT_LOOP_SETTINGS, loops.default ?? {});
  const agents = Object.entries(loops.agents ?? {}).map(
    ([name, options]) => [name, changeLoopSettings(everybody, options)] as const,
  );
  return { everybody, agents: new Map(agents) };
}
