import type { LaneUse } from '../../ports/call-store.ts';
import { asList, asNumber, asText } from './answers.ts';
import type { RedisContext } from './redis-context.ts';

/** Outcomes are counted in `retained` by the time at which they may be forgotten. */
export async function laneUse(context: RedisContext): Promise<LaneUse[]> {
  const uses: LaneUse[] = [];
  const [seconds, microseconds] = asList(await context.command('TIME'));
  const now = asNumber(seconds) * 1000 + Math.floor(asNumber(microseconds) / 1000);
  for (let lane = 0; lane < context.lanes; lane += 1) {
    const { meta, retained } = context.lane(lane);
    const [live, kept] = asList(await context.command('HMGET', meta, 'liveBytes', 'retainedBytes'));
    const buckets = asList(await context.command('HGETALL', retained));
    const due = buckets.filter((_, index) => index % 2 === 0).map((time) => Number(asText(time)));
    const overdueMs = Math.max(0, ...due.map((time) => now - time));
    uses.push({ lane, liveBytes: numberOf(live), retainedBytes: numberOf(kept), overdueMs });
  }
  return uses;
}

function numberOf(field: unknown): number {
  return field === null ? 0 : asNumber(field);
}
