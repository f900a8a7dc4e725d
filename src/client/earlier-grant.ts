import type { Grant, NewGrant } from '../domain/policy/approval.ts';
import type { DecideAnswer, DecideRequest, GrantReader } from '../domain/ports/approval-store.ts';

/**
 * A repeated `allow-always` gets the answer of the first one, with its grant. If the repeat asks for another grant, that answer would hide
 * that no such grant was made: it becomes `already-decided`.
 */
export async function refuseOtherGrant(
  store: GrantReader,
  { grant: wanted }: Pick<DecideRequest, 'grant'>,
  answer: DecideAnswer,
): Promise<DecideAnswer> {
  const isRepeat = answer.kind === 'decided' && answer.grant !== undefined && answer.grant !== wanted?.id;
  if (!isRepeat || wanted === undefined) return answer;
  const made = await store.readGrant(answer.grant!);
  return made !== undefined && isSameGrant(made, wanted) ? answer : { kind: 'already-decided', state: answer.state };
}

/** Uses may have been counted since the grant was made, so fewer of them are still the same grant. */
function isSameGrant(made: Grant, wanted: NewGrant): boolean {
  const hasUses =
    made.usesLeft === undefined || wanted.usesLeft === undefined
      ? made.usesLeft === wanted.usesLeft
      : made.usesLeft <= wanted.usesLeft;
  const isSameScope = made.agent === wanted.agent && made.expiresAt - made.createdAt === wanted.lifetimeMs;
  return hasUses && isSameScope && JSON.stringify(made.matches) === JSON.stringify(wanted.matches);
}
