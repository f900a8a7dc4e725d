import { isEnding, type Ending } from './domain/call/ending.ts';
import type { DeliveredCall, Plane } from './domain/ports/plane.ts';
import { admit } from './stages/admit/admit.ts';
import { execute } from './stages/execute/execute.ts';
import { checkRefusedForLoop } from './stages/gate/gate.ts';
import { identify } from './stages/identify/identify.ts';
import { settle, type PassedStages } from './stages/settle/settle.ts';
import { gateAndPermit } from './stages/start-permit.ts';

/**
 * The path of a call on a worker; each step is a folder in stages/. The caller's part, stages/accept, comes before it: the call was
 * accepted, and its delivery contains everything needed. Every ending of a stage is settled, except three: the call was lost to another
 * worker, was handed back, or waits for a person. stages/answer hands the outcome to the caller.
 */
export async function runClaimed(delivered: DeliveredCall, plane: Plane): Promise<void> {
  const passed: PassedStages = { delivered };
  const ending = await passStages(passed, plane);
  delivered.events?.passed('execute', ending);
  if (ending.kind === 'ended') await settle(passed, ending, plane);
}

async function passStages(passed: PassedStages, plane: Plane): Promise<Ending> {
  const { delivered } = passed;
  const { events } = delivered;

  const admitted = await admit(delivered, plane);
  events?.passed('admit', admitted);
  if (isEnding(admitted)) return admitted;

  const identified = await identify(admitted, plane);
  events?.passed('identify', identified);
  if (isEnding(identified)) return checkRefusedForLoop(admitted, identified);
  passed.identified = identified;

  const permit = await gateAndPermit(identified, passed, plane);
  events?.passed('gate', permit);
  passed.gateMs = Math.floor(performance.now() - delivered.arrivedAt);
  if (isEnding(permit)) return permit;
  passed.isAllowed = true;

  return execute(permit.verdict, plane, permit);
}
