import { declaredNames } from '../../domain/identity/agent.ts';
import { planeError } from '../../domain/errors/errors.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { VERDICTS, type Rule } from '../../domain/policy/rule.ts';
import { callsDigest } from '../rules/rule-digest.ts';
import { findContradiction } from './contradictions.ts';
import { guessName, type NearNames } from '../../base/settings/describe-issue.ts';
import type { SettingsFile } from '../../base/settings/read-settings-file.ts';
import {
  findOpenTool,
  findToolProblems,
  findUndeclared,
  type KnownTools,
  type ProblemOfRule,
} from './tool-problems.ts';

export interface RuleProblem {
  /** Path of the part of the policy that is wrong. */
  readonly path: readonly (string | number)[];
  /** Set if the wrong part is this key of the member at `path`. */
  readonly key?: string;
  readonly text: string;
}

/** Finds rules that can never match or never decide, and names that do not exist. Without `known` nothing is compared with the catalog. */
export function findRuleProblems(policy: Policy, known: KnownTools | undefined, near: NearNames): RuleProblem[] {
  const { rules = [], approvers = [] } = policy;
  const earlier = new Map<string, Rule>();
  const ofRules = rules.flatMap((rule, index) => {
    const found = [
      ...findAgentProblems(policy, rule, near),
      ...findRoleProblems(policy, rule.subjects, ['subjects'], near),
      ...findRoleProblems(policy, rule.ask?.approvers, ['ask', 'approvers'], near),
      ...findQuorumProblem(rule, approvers),
      ...findContradictionProblem(rule),
      ...findDuplicateProblem(rule, earlier),
      ...(known === undefined ? [] : findToolProblems(rule, known, near)),
    ];
    return found.map(({ path, text }) => ({ path: ['rules', index, ...path], text: `rule "${rule.id}": ${text}` }));
  });
  const ofApprovers = findRoleProblems(policy, approvers, ['approvers'], near);
  return [...ofApprovers.map(({ path, text }) => ({ path, text: `approvers: ${text}` })), ...ofRules];
}

/**
 * Finds roles in permissions that do not exist, and entries that deny a misspelt tool. Such roles cannot be assigned later: a file that adds
 * a role also replaces the permissions.
 */
function findPermissionProblems(policy: Policy, known: KnownTools | undefined, near: NearNames): RuleProblem[] {
  return Object.entries(policy.permissions).flatMap(([entry, permission]) => {
    const roles = (['allow', 'deny'] as const).flatMap((list) =>
      findRoleProblems(policy, permission[list], ['permissions', entry, list], near).map(({ path, text }) => ({
        path,
        text: `permissions.${entry}.${list}: ${text}`,
      })),
    );
    const denies = known !== undefined && (permission.deny ?? []).length > 0;
    const open = denies ? findOpenTool(entry, known, near) : undefined;
    if (open === undefined) return roles;
    return [...roles, { path: ['permissions'], key: entry, text: `permissions.${entry}: ${open}` }];
  });
}

function findAgentProblems(policy: Policy, rule: Rule, near: NearNames): ProblemOfRule[] {
  const known = declaredNames(policy);
  return (rule.agents ?? []).flatMap((name, index): ProblemOfRule[] => {
    if (known === undefined || known.includes(name)) return [];
    const text = `no agent ${name} is declared${guessName(name, known, near)}`;
    return [{ path: ['agents', index], text }];
  });
}

/** Finds roles that do not exist. Such a role has no members, so a subject that the rule should stop would pass. */
function findRoleProblems(
  { roles }: Policy,
  names: readonly string[] = [],
  path: readonly string[],
  near: NearNames,
): ProblemOfRule[] {
  return names.flatMap((name, index): ProblemOfRule[] => {
    const role = name.startsWith('role:') ? name.slice('role:'.length) : undefined;
    if (role === undefined || Object.hasOwn(roles, role)) return [];
    return [{ path: [...path, index], text: `there is no role ${role}${guessName(role, Object.keys(roles), near)}` }];
  });
}

function findQuorumProblem({ ask = {} }: Rule, approvers: readonly string[]): ProblemOfRule[] {
  const { quorum = 1, approvers: names = approvers } = ask;
  const isOpen = names.length === 0 || names.some((name) => name.startsWith('role:') || /(^|\/)\*$/.test(name));
  const people = new Set(names.map((name) => (name.includes('/') ? name : `default/${name}`))).size;
  if (isOpen || quorum <= people) return [];
  return [{ path: ['ask', 'quorum'], text: `${quorum} must say yes, but only ${people} may answer` }];
}

function findContradictionProblem(rule: Rule): ProblemOfRule[] {
  const found = findContradiction(rule);
  if (found === undefined) return [];
  const { at } = rule.arguments![found.one]!;
  const text = `it can never match: no value at ${at} meets both conditions ${found.one + 1} and ${found.other + 1}`;
  return [{ path: ['arguments', found.other], text }];
}

/** Finds two rules about exactly the same calls: only the stricter one, or the first one, ever decides. */
function findDuplicateProblem(rule: Rule, earlier: Map<string, Rule>): ProblemOfRule[] {
  const key = callsDigest(rule);
  const earlierRule = earlier.get(key);
  if (earlierRule === undefined) {
    earlier.set(key, rule);
    return [];
  }
  if (earlierRule.verdict === rule.verdict)
    return [{ path: [], text: `rule "${earlierRule.id}" says the same to the same calls` }];
  const isWeaker = VERDICTS.indexOf(rule.verdict) < VERDICTS.indexOf(earlierRule.verdict);
  const text = isWeaker
    ? `it can never decide: rule "${earlierRule.id}" says ${earlierRule.verdict} to the same calls`
    : `rule "${earlierRule.id}" can never decide beside it: this one says ${rule.verdict} to the same calls`;
  return [{ path: [], text }];
}

/**
 * Checks rules, approvers and the roles in permissions. Throws POLICY_INVALID for problems in the parts that the file sets, with their places
 * (at most 8). Problems in the parts that the file leaves unchanged are returned as warnings, because they must not block a change to another
 * part. Conditions that are probably misspelt are returned as warnings, too.
 */
export function checkRules(
  file: { readonly partsSet: readonly string[]; readonly placeOf: SettingsFile['placeOf'] },
  policy: Policy,
  known: KnownTools | undefined,
  near: NearNames,
): string[] {
  const found = findRuleProblems(policy, known, near);
  const isOfFile = ({ path }: RuleProblem): boolean => file.partsSet.includes(String(path[0]));
  // A file always replaces the permissions, so their problems are always its own.
  const problems = [...findPermissionProblems(policy, known, near), ...found.filter(isOfFile)].map(
    ({ path, key, text }) => `${file.placeOf(path, key)}: ${text}`,
  );
  if (problems.length > 0) throw planeError('POLICY_INVALID', { problems: problems.slice(0, 8) });
  return [...found.map(({ text }) => text), ...findRuleWarnings(policy, known, near)];
}

/** Warns about conditions on arguments that no tool declares. A call could still contain such an argument, so this is not an error. */
function findRuleWarnings({ rules = [] }: Policy, known: KnownTools | undefined, near: NearNames): string[] {
  if (known === undefined) return [];
  return rules.flatMap((rule) => findUndeclared(rule, known, near).map((text) => `rule "${rule.id}": ${text}`));
}
