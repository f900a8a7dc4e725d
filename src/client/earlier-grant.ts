import type { Grant, NewGrant } from '../domain/policy/approval.ts';
import type { DecideAnswer, DecideRequest, GrantReader } from '../domain/ports/approval-store.ts';

/**
 * A repeated `allow-always` gets the answer of the first one, with its grant. If the repeat asks for a different grant, that answer would
 * be misleading, because no such grant was made. The answer is `already-decided` then.
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

/** Some uses of the first grant may be spent already, so a grant with fewer uses left still counts as the same. */
function isSameGrant(made: Grant, wanted: NewGrant): boolean {
  const hasUses =
    made.usesLeft === undefined || wanted.usesLeft === undefined
      ? made.usesLeft === wanted.usesLeft
      : made.usesLeft <= wanted.usesLeft;
  const isSameScope = made.agent === wanted.agent && made.expiresAt - made.createdAt === wanted.lifetimeMs;
  return hasUses && isSameScope && JSON.stringify(made.matches) === JSON.stringify(wanted.matches);
}
