import type { LaneState } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

export function laneState({ lane, now }: Transaction): LaneState {
  return {
    epoch: String(lane.epoch),
    policyVersion: lane.policyVersion,
    cancelSequence: String(lane.cancelSequence),
    now,
  };
}
