import { PlaneError } from '../../domain/errors/errors.ts';
import type { SubjectLimits } from '../../domain/call/subject-share.ts';
import type { LaneUse } from '../../domain/ports/call-requests.ts';
import { asList, asNumber, asText } from './answers.ts';
import { readLaneNumbers, type Send } from './lane-numbers.ts';
import type { RedisContext } from './redis-context.ts';

/** Reports the use of each lane. The hash `retained` counts outcomes by the time at which they may be deleted. */
export async function laneUse(context: RedisContext): Promise<LaneUse[]> {
  const uses: LaneUse[] = [];
  const [seconds, microseconds] = asList(await context.command('TIME'));
  const now = asNumber(seconds) * 1000 + Math.floor(asNumber(microseconds) / 1000);
  const send: Send = (command, ...args) => context.command(command, ...args);
  for (let lane = 0; lane < context.lanes; lane += 1) {
    const keys = context.lane(lane);
    const { meta, forgetAt, damaged } = await readLaneNumbers(send, keys, context.deployment.policy);
    const windows = await readWindows(context, lane);
    uses.push({
      lane,
      liveBytes: meta.liveBytes,
      retainedBytes: meta.retainedBytes,
      overdueMs: Math.max(0, ...forgetAt.map((time) => now - time)),
      pendingApprovals: asNumber(await context.command('ZCARD', keys.approvals('pending'))),
      damaged,
      ...(windows === undefined ? {} : { fullestSubject: fullestOf(windows) }),
    });
  }
  return uses;
}

/** Reads the fields and values of a lane's hash of windows. Returns undefined if the Redis user may not read it. */
export async function readWindows(context: RedisContext, lane: number): Promise<string[] | undefined> {
  try {
    return asList(await context.command('HGETALL', context.lane(lane).windows)).map(asText);
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'STORE_FORBIDDEN') return undefined;
    throw error;
  }
}

/** The value of a subject's field. A value that no function has written counts as zero, as in `functions/shared/shares.lua`. */
const SHARE = /^(\d+) (\d+) (\d+) (\d+)$/;

/** Takes the fields and values of the hash of windows. The field of a subject is `=` and its scope: see `functions/shared/shares.lua`. */
function fullestOf(windows: readonly string[]): SubjectLimits {
  const max = { liveBytes: 0, parkedBytes: 0, retainedBytes: 0, pendingApprovals: 0 };
  for (let at = 0; at < windows.length; at += 2) {
    if (!/^=./.test(windows[at]!)) continue;
    const [live = 0, kept = 0, parked = 0, pending = 0] = (SHARE.exec(windows[at + 1]!) ?? []).slice(1).map(Number);
    max.liveBytes = Math.max(max.liveBytes, live);
    max.retainedBytes = Math.max(max.retainedBytes, kept);
    max.parkedBytes = Math.max(max.parkedBytes, parked);
    max.pendingApprovals = Math.max(max.pendingApprovals, pending);
  }
  return max;
}
