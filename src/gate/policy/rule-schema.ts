import { z } from 'zod';
import { APPROVAL_DECISIONS, SEVERITIES } from '../../domain/policy/approval.ts';
import { NAME_PATTERN, splitToolId } from '../../domain/identity/ids.ts';
import { isExactNumber } from '../../base/json-rules.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { VERDICTS, type ArgumentCondition, type Rule } from '../../domain/policy/rule.ts';
import { UNMATCHED } from '../../domain/policy/rule-decision.ts';
import { EFFECTS } from '../../domain/tool/tool.ts';
import { COMPARISONS, parsePlace } from '../rules/compile-condition.ts';
import { readHostEntry } from '../rules/match-host.ts';
import { readRoot } from '../rules/match-root.ts';
import { matchGlob, matchPattern } from '../rules/match-text.ts';
import { plainText } from './agent-schema.ts';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
const MAX_RULES = 5_000;
const MAX_CONDITIONS = 32;
const MAX_ENTRIES = 1_000;

const WORDS = (limit: number) =>
  z
    .string()
    .regex(/^[^\p{Cs}\p{Cc}]+$/u, 'expected text without control characters')
    .max(limit, `expected at most ${limit} characters`);
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item).min(1, 'an empty list matches nothing; leave it out to mean all').max(MAX_ENTRIES).readonly();

export const toolPattern = z.string().refine(isToolPattern, { message: 'expected module.tool, module.* or *' });

function isToolPattern(text: string): boolean {
  if (text === '*') return true;
  const module = text.endsWith('.*') ? text.slice(0, -2) : undefined;
  return module === undefined ? splitToolId(text) !== undefined : NAME_PATTERN.test(module);
}

/** A name that a policy uses for its subjects: a subject, `TENANT/NAME`, `TENANT/*`, `role:NAME` or `*`. */
export const member = plainText.refine(
  (name) =>
    name.startsWith('role:') ? NAME_PATTERN.test(name.slice('role:'.length)) : canBeSubject(name) || isAll(name),
  { error: ({ input }) => sayMember(String(input)) },
);

/**
 * A member of a role: a subject. `role:NAME` and `*` are refused here. In a role, `findSubject` would read either as the name of one
 * subject, so a `deny` for the role would not stop the subjects that the author meant.
 */
export const roleMember = plainText.refine(canBeSubject, {
  message: 'expected a subject or TENANT/NAME; a role contains no roles and no *',
});

/** Matches `role:NAME`, and what authors write for it by mistake: in capitals, in the plural, after a blank, or with a tenant. */
const LIKE_A_ROLE = /^(?:[^/]*\/)?\s*roles?:(.*)$/i;

function isAll(name: string): boolean {
  return /^(?:[^/*]+\/)?\*$/.test(name);
}

/**
 * False for a name without a tenant before its slash or without a subject after it: no session can have it. Also false for a name that
 * looks like a role or contains `*`: `findSubject` would take it for one subject's exact name, so a `deny` would not stop those it seems to
 * name.
 */
function canBeSubject(name: string): boolean {
  const isWhole = !name.startsWith('/') && name.indexOf('/') !== name.length - 1;
  return isWhole && !name.includes('*') && !LIKE_A_ROLE.test(name);
}

function sayMember(name: string): string {
  const role = name.startsWith('role:') ? undefined : LIKE_A_ROLE.exec(name)?.[1];
  if (role !== undefined && NAME_PATTERN.test(role)) return `a role is written role:NAME, did you mean role:${role}?`;
  return 'expected a subject, role:NAME or *; in another tenant TENANT/NAME or TENANT/*';
}

/** Only values that canonical JSON can represent, because rules are hashed. */
const jsonValue = z
  .json()
  .refine(isWellFormed, { message: 'expected text without lone surrogates' })
  .refine(isExact, { message: 'expected a number that is exact: calls with a longer integer are refused' });

function isExact(value: JsonValue): boolean {
  if (typeof value === 'number') return isExactNumber(value);
  if (Array.isArray(value)) return value.every(isExact);
  return !isJsonObject(value) || Object.values(value).every(isExact);
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === 'string') return !/\p{Cs}/u.test(value);
  if (Array.isArray(value)) return value.every(isWellFormed);
  return !isJsonObject(value) || Object.entries(value).every((entry) => entry.every(isWellFormed));
}

const compiles = (compile: (text: string) => unknown) => (text: string) => {
  try {
    compile(text);
    return true;
  } catch {
    return false;
  }
};

const bounds = (number: z.ZodNumber) =>
  z
    .strictObject({ min: number.exactOptional(), max: number.exactOptional() })
    .refine(({ min, max }) => min !== undefined || max !== undefined, { message: 'expected min, max or both' })
    .refine(({ min = -Infinity, max = Infinity }) => min <= max, {
      message: 'min is greater than max: nothing is in between',
    });

const condition = z
  .strictObject({
    at: z
      .string()
      .max(1024)
      .refine((text) => parsePlace(text) !== undefined && isWellFormed(text), {
        message: 'expected a JSON pointer such as /url or /items/*/url; / and ~ in a name are ~1 and ~0',
      }),
    not: z.boolean('expected true or false').exactOptional(),
    exists: z.boolean('expected true or false').exactOptional(),
    equals: jsonValue.exactOptional(),
    in: z.array(jsonValue).min(1, 'an empty list holds for nothing').max(MAX_ENTRIES).readonly().exactOptional(),
    prefix: z.string().min(1, 'expected some text; every text starts with none').refine(isWellFormed).exactOptional(),
    glob: z
      .string()
      .min(1, 'expected some text')
      .refine(compiles(matchGlob), { message: 'expected a shorter glob' })
      .exactOptional(),
    pattern: z
      .string()
      .min(1, 'expected some text')
      .refine(compiles(matchPattern), {
        message: 'expected an RE2 expression of at most 2000 characters: no look-around, no back-references',
      })
      .exactOptional(),
    range: bounds(z.number().refine(isExactNumber, 'expected a number that is exact')).exactOptional(),
    length: bounds(z.int('expected a whole number').min(0, 'expected 0 or more')).exactOptional(),
    host: listOf(
      z.string().refine((text) => readHostEntry(text) !== undefined, {
        message: 'expected a host name or *.NAME, without scheme, port and path',
      }),
    ).exactOptional(),
    root: listOf(
      z.string().refine((text) => readRoot(text) !== undefined && isWellFormed(text), {
        message: 'expected a folder, written with /, without .. and ~',
      }),
    ).exactOptional(),
  })
  .superRefine((given, context) => {
    const found = COMPARISONS.filter((name) => Object.hasOwn(given, name));
    if (found.length === 1) return;
    const have = found.length === 0 ? '' : `, found ${found.join(' and ')}`;
    context.addIssue({ code: 'custom', message: `expected exactly one of ${COMPARISONS.join(', ')}${have}` });
  })
  .transform((given) => given as ArgumentCondition);

/** The conditions of a grant. All of them must hold. */
export const conditionsSchema = z.array(condition).min(1).max(MAX_CONDITIONS);

/**
 * Other gates have options that allow a call when no approver answers in time. Here no such option exists, so a policy author who writes
 * one gets an error.
 */
const NEVER_ALLOWS = z.never('a question that nobody answers in time is denied; nothing else can be chosen');
const ON_TIMEOUT = ['onTimeout', 'timeoutBehavior', 'timeoutDecision', 'timeoutAction', 'allowOnTimeout'] as const;
const onTimeout = Object.fromEntries(ON_TIMEOUT.map((key) => [key, NEVER_ALLOWS.exactOptional()]));

const ASK = {
  title: WORDS(120).exactOptional(),
  description: z
    .string()
    .regex(/^(?:[^\p{Cs}\p{Cc}]|\n)+$/u, 'expected text; of control characters only line breaks')
    .max(2000, 'expected at most 2000 characters')
    .exactOptional(),
  severity: z.enum(SEVERITIES, `expected one of ${SEVERITIES.join(', ')}`).exactOptional(),
  timeoutMs: z
    .int('expected a whole number of milliseconds')
    .min(SECOND, 'expected at least 1000 (1 second)')
    .max(7 * DAY, `expected at most ${7 * DAY} (7 days)`)
    .exactOptional(),
  decisions: z
    .array(z.enum(APPROVAL_DECISIONS, `expected one of ${APPROVAL_DECISIONS.join(', ')}`))
    .refine((given) => given.some((decision) => decision !== 'deny'), {
      message: 'expected allow-once, allow-always or both: nobody could say yes',
    })
    // Adds `deny`, which is always offered, and sorts the decisions in the order in which approvers see them.
    .transform((given) => APPROVAL_DECISIONS.filter((one) => one === 'deny' || given.includes(one)))
    .exactOptional(),
  approvers: z.array(member).min(1, 'nobody could answer; leave it out to take those of the policy').exactOptional(),
  quorum: z.int('expected a whole number').min(1, 'expected 1 or more').max(MAX_ENTRIES).exactOptional(),
};
const ask = z.strictObject({ ...ASK, ...onTimeout });

const RULE = {
  id: z
    .string()
    .regex(NAME_PATTERN, 'expected 1 to 64 letters, digits, _ and -, the first a letter or digit')
    .refine((id) => id !== UNMATCHED, { message: `${UNMATCHED} stands for "no rule"; choose another name` }),
  verdict: z.enum(VERDICTS, `expected one of ${VERDICTS.join(', ')}`),
  tools: listOf(toolPattern).exactOptional(),
  effects: listOf(z.enum(EFFECTS, `expected one of ${EFFECTS.join(', ')}`)).exactOptional(),
  privileged: z.boolean('expected true or false').exactOptional(),
  agents: listOf(
    plainText.refine((name) => name !== '*', { message: 'leave agents out to mean all of them' }),
  ).exactOptional(),
  subjects: listOf(member).exactOptional(),
  arguments: z
    .array(condition)
    .min(1, 'expected a condition; leave it out to take every call')
    .max(MAX_CONDITIONS)
    .readonly()
    .exactOptional(),
  reason: WORDS(500).exactOptional(),
  ask: ask.exactOptional(),
};

const rule = z.strictObject(RULE).superRefine((given, context) => {
  if (given.ask === undefined || given.verdict === 'ask') return;
  context.addIssue({ code: 'custom', path: ['ask'], message: 'a question needs verdict: ask' });
});

export const rulesSchema = z
  .array(rule)
  .max(MAX_RULES)
  .superRefine((rules, context) => {
    const known = new Set<string>();
    rules.forEach(({ id }, index) => {
      if (known.has(id)) context.addIssue({ code: 'custom', path: [index, 'id'], message: `${id} is there twice` });
      known.add(id);
    });
  })
  .transform((rules) => rules as readonly Rule[]);

export const unmatchedSchema = z.enum(VERDICTS, `expected one of ${VERDICTS.join(', ')}`);
export const approversSchema = z.array(member).max(MAX_ENTRIES).readonly();

export function keysOfRules(path: string): readonly string[] {
  if (/\.(range|length)$/.test(path)) return ['min', 'max'];
  if (/\.arguments\.\d+$/.test(path)) return ['at', 'not', ...COMPARISONS];
  return path.endsWith('.ask') ? Object.keys(ASK) : Object.keys(RULE);
}
