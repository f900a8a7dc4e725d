import { checkReply, makeRequest, type CallerSide } from './variant.ts';

export interface Load {
  /** Number of calls in flight. After each answer the next call starts at once. */
  readonly concurrency: number;
  readonly seconds: number;
  /** Ends the loop early, after this number of calls. */
  readonly maxCalls: number;
}

export interface LoopResult {
  readonly calls: number;
  readonly elapsedMs: number;
}

let lastId = 0;

/** A closed loop. The time includes the last answer, so no call is left in flight afterwards. */
export async function runLoop(caller: CallerSide, load: Load): Promise<LoopResult> {
  const startedAt = performance.now();
  const endAt = startedAt + load.seconds * 1000;
  let begun = 0;
  async function callOnAndOn(): Promise<void> {
    while (begun < load.maxCalls && performance.now() < endAt) {
      begun += 1;
      lastId += 1;
      const request = makeRequest(lastId);
      checkReply(request, await caller.call(request));
    }
  }
  await Promise.all(Array.from({ length: load.concurrency }, callOnAndOn));
  return { calls: begun, elapsedMs: performance.now() - startedAt };
}
