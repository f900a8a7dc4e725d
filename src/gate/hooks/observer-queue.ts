import { deepFreeze } from '../../base/deep-freeze.ts';
import type { JsonObject } from '../../base/json.ts';
import { callHook, reportFailure, type HookReporting } from './call-hook.ts';
import type { RegisteredHook } from './registered-hook.ts';

export interface ObserverBounds {
  /** Max concurrent calls of one hook. */
  readonly concurrency: number;
  /** Max events that wait for one hook. */
  readonly queued: number;
  readonly queuedCharacters: number;
}

/** @internal */
export const OBSERVER_BOUNDS: ObserverBounds = Object.freeze({
  concurrency: 16,
  queued: 256,
  queuedCharacters: 32 * 1024 * 1024,
});

/** An event for one hook, as JSON text, so that the queues of all hooks of a call share one string. */
export interface Observation {
  readonly tool: string;
  readonly callId: string;
  readonly event: string;
}

/**
 * Passes events to hooks that only observe. Each hook has its own queue: a slow hook loses only its own events, and lost events are
 * counted.
 */
export interface ObserverQueue {
  submit(hook: RegisteredHook, observation: Observation): void;
  /** Resolves when no hook runs or waits; false if the timeout passes first. */
  idle(timeoutMs: number): Promise<boolean>;
}

interface Lane {
  running: number;
  readonly waiting: Observation[];
  waitingCharacters: number;
}

const LOG_EVERY = 1000;

export function createObserverQueue(needs: HookReporting, bounds: ObserverBounds = OBSERVER_BOUNDS): ObserverQueue {
  // Has at most one entry per hook, so it does not grow without limit.
  const lanes = new Map<RegisteredHook, Lane>();
  const idleListeners = new Set<() => void>();

  function laneOf(hook: RegisteredHook): Lane {
    let lane = lanes.get(hook);
    if (lane === undefined) lanes.set(hook, (lane = { running: 0, waiting: [], waitingCharacters: 0 }));
    return lane;
  }

  function drop(hook: RegisteredHook, { tool, callId }: Observation): void {
    const dropped = hook.meter.count('dropped');
    if (dropped % LOG_EVERY !== 1) return;
    const facts = { stage: 'settle', hook: hook.id, tool, callId, dropped };
    needs.log.warn(facts, 'a hook is too slow; it is not told of every call');
  }

  async function observe(hook: RegisteredHook, { tool, callId, event }: Observation): Promise<void> {
    const startedAt = performance.now();
    const ending = await callHook(hook, deepFreeze(JSON.parse(event) as JsonObject), undefined);
    const durationMs = performance.now() - startedAt;
    hook.meter.took(durationMs);
    if (ending.kind === 'failed') reportFailure(hook, ending, { tool, callId, durationMs }, needs);
  }

  function start(hook: RegisteredHook, lane: Lane, observation: Observation): void {
    lane.running += 1;
    // The hook starts in a later turn of the event loop, so that its own computing never delays settling the call.
    setImmediate(() => void observe(hook, observation).finally(() => onEnd(hook, lane)));
  }

  function onEnd(hook: RegisteredHook, lane: Lane): void {
    lane.running -= 1;
    const next = lane.waiting.shift();
    if (next !== undefined) {
      lane.waitingCharacters -= next.event.length;
      start(hook, lane, next);
    } else if (isIdle()) for (const notify of idleListeners) notify();
  }

  function isIdle(): boolean {
    return [...lanes.values()].every(({ running }) => running === 0);
  }

  return {
    submit(hook, observation) {
      const lane = laneOf(hook);
      if (lane.running < bounds.concurrency) return start(hook, lane, observation);
      const { length } = observation.event;
      if (lane.waiting.length >= bounds.queued || lane.waitingCharacters + length > bounds.queuedCharacters)
        return drop(hook, observation);
      lane.waiting.push(observation);
      lane.waitingCharacters += length;
    },
    idle(timeoutMs) {
      if (isIdle()) return Promise.resolve(true);
      return new Promise((resolve) => {
        const end = (answer: boolean): void => {
          clearTimeout(timer);
          idleListeners.delete(onIdle);
          resolve(answer);
        };
        const onIdle = (): void => end(true);
        const timer = setTimeout(() => end(false), timeoutMs);
        idleListeners.add(onIdle);
      });
    },
  };
}
