import { isEnding, type Ending } from './domain/call/ending.ts';
import type { DeliveredCall, Plane } from './domain/ports/plane.ts';
import type { AllowedCall, PassedStages } from './domain/ports/staged-calls.ts';
import { admit } from './stages/admit/admit.ts';
import { execute } from './stages/execute/execute.ts';
import { checkRefusedForLoop, gate } from './stages/gate/gate.ts';
import { identify } from './stages/identify/identify.ts';
import { settle } from './stages/settle/settle.ts';
import { StartPermit } from './start-permit.ts';

/**
 * The path of a delivered call on a worker; each step is a folder in stages/. The caller's process does the rest: client/call-path.ts puts
 * the call into the store before this, and stages/answer returns the outcome to the caller after it. The delivery contains what most calls
 * need here, so the stages seldom read from the store. Every ending of a stage is settled, except three: the call was lost to another
 * worker, was handed back, or waits for a person.
 */
export async function runClaimed(delivered: DeliveredCall, plane: Plane): Promise<void> {
  const passed: PassedStages = { delivered };
  const ending = await passStages(passed, plane);
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

  const verdict = await gate(identified, plane);
  const permit = await issuePermit(verdict, passed, plane);
  events?.passed('gate', permit);
  passed.gateMs = Math.floor(performance.now() - delivered.arrivedAt);
  if (isEnding(permit)) return permit;
  passed.isAllowed = true;

  const ending = await execute(permit.verdict, plane, permit);
  events?.passed('execute', ending);
  return ending;
}

/**
 * Makes the permit to start the tool. The stages identify and gate may have waited for a hook, a schema or a person's answer; if that took
 * too long, the verdict is checked again here. `passed` gets the permit even if the call is then stopped: its audit record has the policy
 * and the arguments that were checked last.
 */
async function issuePermit(
  verdict: AllowedCall | Ending,
  passed: PassedStages,
  plane: Plane,
): Promise<StartPermit | Ending> {
  if (isEnding(verdict)) return verdict;
  const permit = new StartPermit(verdict, plane);
  passed.permit = permit;
  return (await permit.stopFor()) ?? permit;
}
