import type { JsonObject } from '../../src/base/json.ts';
import type { ArgumentCondition } from '../../src/domain/policy/rule.ts';
import { compileCondition, conditionIsMet } from '../../src/gate/rules/compile-condition.ts';
import type { ComparisonResult } from '../../src/gate/rules/comparison-result.ts';

/**
 * Whether the condition is met in a rule that allows and in one that denies, then both again with `not`. The four answers differ for
 * each judgement.
 */
const ANSWERS: Readonly<Record<ComparisonResult, string>> = {
  holds: 'true,true,false,false',
  fails: 'false,false,true,true',
  missing: 'false,false,false,true',
  unclear: 'false,true,false,true',
};

/** The judgement of a condition on these arguments, derived from how rules with and without `not` evaluate it. */
export function judgedAs(condition: ArgumentCondition, args: JsonObject): ComparisonResult {
  const answers = [condition, { ...condition, not: true }].flatMap((one) =>
    [true, false].map((isAllow) => conditionIsMet(compileCondition(one), args, isAllow)),
  );
  const found = (Object.keys(ANSWERS) as ComparisonResult[]).find((judgement) => ANSWERS[judgement] === answers.join());
  if (found === undefined) throw new Error(`No judgement is answered ${answers.join()}.`);
  return found;
}
