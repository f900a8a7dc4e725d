import { addStall, HISTORY_LENGTH, type Attempt, type Stall } from '../../src/domain/call/attempt.ts';
import { errorOutcome } from '../../src/domain/errors/errors.ts';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { DEFAULT_LOOP_SETTINGS, type LoopSettings } from '../../src/domain/policy/loop-settings.ts';
import type { Outcome } from '../../src/domain/outcome/outcome.ts';
import type { ToolDeclaration } from '../../src/domain/tool/tool.ts';
import { argumentSignatures, targetSignature } from '../../src/gate/loop/argument-signature.ts';
import { detectLoop } from '../../src/gate/loop/detect-loop.ts';
import { rememberAttempt } from '../../src/gate/loop/detect-stall.ts';
import { costOfCall, endOfAttempt } from '../../src/gate/loop/end-of-attempt.ts';
import type { AskedAttempt } from '../../src/gate/loop/loop-window.ts';
import { type LoopBlock, type LoopVerdict } from '../../src/domain/policy/loop-verdict.ts';
import { factsOfBlock } from '../../src/gate/loop/loop-verdict.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { bodyDigest } from '../../src/domain/tool/digest.ts';
import { encodeHistory, NO_HISTORY, openHistory, toolTag } from '../../src/domain/call/history.ts';

export type SimulatedTool = { readonly id: string } & Pick<ToolDeclaration, 'poll' | 'progress' | 'cost'> &
  Partial<Pick<ToolDeclaration, 'effect'>>;

export interface SimulatedCall {
  readonly tool: SimulatedTool;
  readonly arguments: JsonValue;
  /** The arguments after a hook rewrote them. */
  readonly rewritten?: JsonValue;
  readonly outcome: Outcome;
  /** Milliseconds since the call before it. */
  readonly afterMs?: number;
  /** The number of later calls that are accepted before this one ends. */
  readonly endsAfter?: number;
  /** The call does not belong to the pattern under test. */
  readonly beside?: true;
}

/** What the store keeps of a run, in addition to the ring of attempts. */
interface Run {
  readonly ring: Attempt[];
  /** Calls up to this sequence number carry the history. */
  watch: number;
}

/** Whether accept attaches the history to the call. */
export type AttachRule = (run: Run, raw: string, sequence: number) => boolean;

const occurs = (ring: readonly Attempt[], signature: string): number =>
  ring.filter(({ raw, effective }) => raw === signature || effective === signature).length;
const wentWrong = ({ ending }: Attempt): boolean => ending !== 'ok' && ending !== 'open';

export const ATTACH = {
  always: () => true,
  /** Attaches the history to a repeated call, or after three failures in a row. */
  repeatedOrFailing: ({ ring }, raw) => occurs(ring, raw) >= 2 || (ring.length >= 3 && ring.slice(-3).every(wentWrong)),
  /** Uses one number in the run instead of the last three attempts: settle raises it, accept compares it. */
  repeatedOrWatched: ({ ring, watch }, raw, sequence) => occurs(ring, raw) >= 2 || sequence <= watch,
} satisfies Record<string, AttachRule>;

const WATCHED_CALLS = 4;
const WATCHED_AFTER_REPEAT = 8;

export interface Simulation {
  readonly verdicts: readonly LoopVerdict[];
  /** The number of the call, from 1; absent if there was none. */
  readonly firstWarning?: number;
  readonly firstBlock?: number;
  readonly warnings: number;
  readonly blocked: number;
  /** Calls of the pattern that ran after its first block. */
  readonly escaped: number;
  /** The number of calls that carried a history. */
  readonly carried: number;
}

export interface SimulationOptions {
  readonly calls?: number;
  readonly settings?: LoopSettings;
  readonly attach?: AttachRule;
  /** The number of runs of the session that had been ended when this one begins, or how long before it they ended. */
  readonly endedRuns?: number;
  readonly endedMsAgo?: readonly number[];
  readonly stepMs?: number;
  /** What earlier runs of the session left behind. */
  readonly session?: SimulatedSession;
}

export interface SimulatedSession {
  stalls: readonly Stall[];
  /** The time when its last run ended. */
  now?: number;
}

/** Simulates one run: each call is accepted, judged before and after hooks, executed or blocked, and settled, with a ring of 128 attempts. */
export function simulateRun(pattern: (index: number) => SimulatedCall, options: SimulationOptions = {}): Simulation {
  const { calls = 300, settings = DEFAULT_LOOP_SETTINGS, attach = ATTACH.repeatedOrWatched } = options;
  const run: Run = { ring: [], watch: 0 };
  const perTool = new Map<string, number>();
  const pending: { readonly at: number; readonly settle: () => void }[] = [];
  const verdicts: LoopVerdict[] = [];
  let [hasBlocked, escaped] = [false, 0];
  const session = options.session ?? { stalls: [] };
  let [now, cost, carried] = [session.now ?? 1_763_000_000_000, 0, 0];
  const startedAt = now;
  const endedMsAgo = options.endedMsAgo ?? Array.from({ length: options.endedRuns ?? 0 }, () => 0);
  const loopEnds = endedMsAgo.map((ms) => startedAt - ms);
  for (let index = 0; index < calls; index += 1) {
    for (const due of pending.filter(({ at }) => at === index)) due.settle();
    const call = pattern(index);
    const { tool, endsAfter = 0 } = call;
    now += call.afterMs ?? options.stepMs ?? 2000;
    const sequence = index + 1;
    const toolSequence = (perTool.get(tool.id) ?? 0) + 1;
    perTool.set(tool.id, toolSequence);
    const attempt = { sequence, tool: toolTag(tool.id), raw: signature(tool.id, call.arguments), at: now };
    const history = attach(run, attempt.raw, sequence) ? openHistory(encodeHistory(run.ring), sequence) : NO_HISTORY;
    if (history.length > 0) carried += 1;
    remember(run, { ...attempt, ending: 'open' });
    const state = { sequence, toolSequence, startedAt, cost, loopEnds, stalls: session.stalls };
    const before = signaturesOf(tool, call.arguments, undefined, toolSequence);
    const signatures =
      call.rewritten === undefined
        ? before
        : signaturesOf(tool, call.rewritten, canonicalJson(call.rewritten), toolSequence);
    const verdict = judge((more) =>
      detectLoop({ history, run: state, attempt: { ...attempt, ...more }, settings, tool }),
    )(before, signatures);
    verdicts.push(verdict);
    hasBlocked ||= verdict.kind === 'block';
    if (hasBlocked && verdict.kind !== 'block' && call.beside !== true) escaped += 1;
    const outcome = verdict.kind === 'block' ? blockedOutcome(verdict) : call.outcome;
    const settle = (): void => {
      cost += costOfCall(outcome, tool);
      const { hasVolatile: _, ...known } = signatures;
      const ended = { ...attempt, ...known, ...endOfAttempt(outcome, tool) };
      const { tally, stall } = rememberAttempt(history, ended, settings);
      if (stall !== undefined) session.stalls = addStall(session.stalls, stall, attempt.at);
      settleAttempt(run, tally === undefined ? ended : { ...ended, tally });
    };
    if (endsAfter === 0 || verdict.kind === 'block') settle();
    else pending.push({ at: index + endsAfter, settle });
  }
  session.now = now;
  return { verdicts, carried, escaped, ...summarise(verdicts) };
}

type Signatures = Pick<AskedAttempt, 'effective' | 'hasVolatile' | 'target'>;

function signaturesOf(
  tool: SimulatedTool,
  args: JsonValue,
  changed: string | undefined,
  toolSequence: number,
): Signatures {
  const target = targetSignature(tool, args as JsonObject, toolSequence);
  const signatures = argumentSignatures(tool, args as JsonObject, changed);
  return target === undefined ? signatures : { ...signatures, target };
}

function judge(ask: (more: Signatures) => LoopVerdict): (sent: Signatures, effective: Signatures) => LoopVerdict {
  return (sent, effective) => {
    const before = ask(sent);
    if (before.kind === 'block' || effective === sent) return before;
    const after = ask(effective);
    return after.kind === 'block' || before.kind === 'pass' ? after : before;
  };
}

function signature(tool: string, args: JsonValue): string {
  return bodyDigest(tool, canonicalJson(args)).slice(0, 8);
}

function remember({ ring }: Run, attempt: Attempt): void {
  ring.push(attempt);
  if (ring.length > HISTORY_LENGTH) ring.shift();
}

function settleAttempt(run: Run, settled: Attempt): void {
  const { sequence, effective, target } = settled;
  const isRepeated = run.ring.some(
    (one) =>
      (effective !== undefined && one.effective === effective) || (target !== undefined && one.target === target),
  );
  if (wentWrong(settled)) run.watch = Math.max(run.watch, sequence + WATCHED_CALLS);
  if (isRepeated) run.watch = Math.max(run.watch, sequence + WATCHED_AFTER_REPEAT);
  const place = run.ring.findIndex((one) => one.sequence === sequence);
  if (place >= 0) run.ring[place] = settled;
}

export function blockedOutcome(block: LoopBlock): Outcome {
  const { message } = block;
  const content = [{ kind: 'text', text: message }] as const;
  const error = { code: block.code, message, facts: factsOfBlock(block) };
  return { kind: 'blocked', executed: 'no', retryable: false, content, error };
}

function summarise(verdicts: readonly LoopVerdict[]): Omit<Simulation, 'verdicts' | 'carried' | 'escaped'> {
  const numberOf = (kind: LoopVerdict['kind']): number => verdicts.filter((verdict) => verdict.kind === kind).length;
  const firstOf = (kind: LoopVerdict['kind']): number => verdicts.findIndex((verdict) => verdict.kind === kind) + 1;
  const [firstWarning, firstBlock, blocked] = [firstOf('warn'), firstOf('block'), numberOf('block')];
  return {
    ...(firstWarning === 0 ? {} : { firstWarning }),
    ...(firstBlock === 0 ? {} : { firstBlock }),
    warnings: numberOf('warn'),
    blocked,
  };
}

export function gives(structured: JsonValue): Outcome {
  return { kind: 'ok', executed: 'yes', retryable: false, content: [], structured };
}

export function says(text: string): Outcome {
  return { kind: 'ok', executed: 'yes', retryable: false, content: [{ kind: 'text', text }] };
}

export function fails(message: string, code?: string): Outcome {
  return errorOutcome('TOOL_FAILED', code === undefined ? { message } : ({ message, code } as { message: string }), {
    executed: 'yes',
  });
}
