import { checkSelection, declaringTenant, findAgent, isSelecting, nameAgent } from '../identity/agent.ts';
import { indexTools, type Catalog } from '../tool/catalog.ts';
import { splitToolId, type ToolId } from '../identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { findChanges, type PolicyChange } from './nearest-change.ts';
import {
  checkPermission,
  findSubject,
  matchingEntries,
  pausedAgent,
  toolPatternMatches,
  type Policy,
  type PolicyRecord,
} from './policy.ts';
import type { Rule, RuleVerdict } from './rule.ts';
import { UNMATCHED, type RuleForesight } from './rule-decision.ts';
import { ALL_MODULES } from '../identity/selection.ts';
import type { Identity } from '../identity/session.ts';
import type { ToolDeclaration } from '../tool/tool.ts';
import { whyUnattended } from '../identity/unattended.ts';

/**
 * The checks of a call in the order in which a worker makes them: the last is that of the rules in the gate, all others are in the stage
 * `identify`.
 */
export const CHECKS = ['tool', 'paused', 'selection', 'permission', 'arguments', 'rules'] as const;
export type Check = (typeof CHECKS)[number];

export interface CheckAnswer {
  readonly check: Check;
  readonly passes: boolean;
  /** The result of the check, as a sentence for a person. */
  readonly found: string;
  /** Path in the policy record of the entry that decides. Absent where no entry decides. */
  readonly rule?: readonly string[];
}

export interface Explanation {
  readonly tool: string;
  readonly identity: Identity;
  readonly policyVersion: number;
  /** True if no check refuses the call. A person may still have to be asked: see `verdict`. */
  readonly allowed: boolean;
  /** What happens to the call. `depends`: the rules test its arguments, which were not given or cannot be predicted. See `checks`. */
  readonly verdict: RuleVerdict | 'depends';
  /** The first check that refuses. If none refuses: `rules` if a rule or `unmatched` decides, else `permission`. */
  readonly decidedBy: Check;
  /** All checks, including those after a refusal. `arguments` only if some were given. For an unknown tool, only the check `tool`. */
  readonly checks: readonly CheckAnswer[];
  /** The smallest set of changes of the policy that together let the call through. Empty if no such change exists or is needed. */
  readonly changes: readonly PolicyChange[];
  /** Similar tool names, if there is no such tool. */
  readonly near: readonly string[];
}

export interface Asked {
  readonly tool: string;
  readonly identity: Identity;
  readonly arguments?: JsonObject;
}

export interface ExplainNeeds {
  readonly catalog: Catalog;
  readonly record: PolicyRecord;
  /** Returns the problems of arguments, according to the published schema. */
  readonly validate: (tool: ToolDeclaration, value: JsonObject) => readonly string[];
  /** Returns the arguments with the defaults of the published schema. */
  readonly fill: (tool: ToolDeclaration, value: JsonObject) => JsonObject;
  readonly near: (name: string, known: Iterable<string>) => string[];
  /** The index of the catalog's tools, if the caller already has one. */
  readonly tools?: ReturnType<typeof indexTools>;
  /** Leaves out `changes`: computing them takes much longer than the verdict. */
  readonly onlyVerdict?: boolean;
  /** Returns what the rules of a policy decide about the call. */
  readonly askRules: (
    call: Omit<Asked, 'tool'> & { readonly tool: ToolDeclaration; readonly policy: Policy },
  ) => RuleForesight;
}

/**
 * Explains whether a call would be let through, by which rule, and what would have to change. Makes the same decisions as at execution and
 * runs nothing.
 */
export function explainCall(asked: Asked, needs: ExplainNeeds): Explanation {
  const { record, validate, near, askRules, tools = indexTools(needs.catalog) } = needs;
  const { tool: name, identity } = asked;
  const { policy, version } = record;
  const tool = tools.get(name as ToolId)?.tool;
  const base = { tool: name, identity, policyVersion: version };
  if (tool === undefined) {
    const found = splitToolId(name) === undefined ? 'a tool is named module.tool' : 'no such tool is published';
    const checks: CheckAnswer[] = [{ check: 'tool', passes: false, found }];
    const answer = { allowed: false, verdict: 'deny', decidedBy: 'tool' } as const;
    return { ...base, ...answer, checks, changes: [], near: near(name, tools.keys()) };
  }
  const { arguments: given, ...caller } = asked;
  const args = given === undefined ? {} : judgedHere(tool, given, needs);
  const ask = (changed: Policy): RuleForesight => askRules({ ...caller, ...args, tool, policy: changed });
  const foresight = ask(policy);
  const checks: CheckAnswer[] = [
    { check: 'tool', passes: true, found: `published${tool.privileged ? ', privileged' : ''}` },
    answerPaused(policy, tool, identity),
    answerSelection(policy, tool, identity),
    answerPermission(policy, tool, identity),
    ...(given === undefined ? [] : [answerArguments(validate(tool, args.arguments ?? given), tool)]),
    answerRules(policy, foresight, whyUnattended(policy, identity)),
  ];
  const refused = checks.find(({ passes }) => !passes);
  const ruled = foresight.kind === 'depends' ? 'depends' : foresight.verdict;
  const speaks = foresight.kind === 'depends' || foresight.by !== UNMATCHED || foresight.verdict !== 'allow';
  return {
    ...base,
    allowed: refused === undefined,
    verdict: refused === undefined ? ruled : 'deny',
    decidedBy: refused?.check ?? (speaks ? 'rules' : 'permission'),
    checks,
    changes: needs.onlyVerdict === true ? [] : findChanges(policy, tool, identity, ask),
    near: [],
  };
}

/**
 * The arguments that the rules judge, as far as they can be predicted. Before the rules, a worker fills in defaults and lets the code of
 * some tools normalise the arguments. Only the defaults can be predicted without that code.
 */
function judgedHere(
  tool: ToolDeclaration,
  given: JsonObject,
  { fill, validate }: ExplainNeeds,
): { readonly arguments?: JsonObject } {
  if (tool.normalises === true) return {};
  return { arguments: validate(tool, given).length === 0 ? fill(tool, given) : given };
}

function answerPaused({ paused }: Policy, { id }: ToolDeclaration, identity: Identity): CheckAnswer {
  const refuse = (found: string, ...rule: string[]): CheckAnswer => ({
    check: 'paused',
    passes: false,
    found,
    rule: ['paused', ...rule],
  });
  if (paused.all === true) return refuse('all calls are paused', 'all');
  const agent = pausedAgent(paused, identity);
  if (agent !== undefined) return refuse(`agent ${agent} is paused`, 'agents', agent);
  const pattern = paused.tools?.find((one) => toolPatternMatches(one, id));
  if (pattern !== undefined) return refuse(`tool ${pattern} is paused`, 'tools', pattern);
  return { check: 'paused', passes: true, found: 'not paused' };
}

function answerSelection(policy: Policy, { id }: ToolDeclaration, identity: Identity): CheckAnswer {
  const { tenant } = identity;
  if (!isSelecting(policy, tenant)) {
    return { check: 'selection', passes: true, found: 'no agents are declared: permissions alone decide' };
  }
  const answer = checkSelection(policy, id, identity);
  if (!answer.selected) {
    const { agent, reason } = answer;
    const acts = agent === identity.agent ? '' : `, for whom ${identity.agent} acts`;
    if (reason === 'agent-unknown') {
      return { check: 'selection', passes: false, found: `no agent ${agent} is declared${acts}` };
    }
    const shown = nameAgent(agent, declaringTenant(policy, tenant, agent));
    const found = `agent ${shown}${acts === '' ? '' : `${acts},`} did not select it`;
    return { check: 'selection', passes: false, found, rule: placeOfAgent(policy, tenant, agent) };
  }
  const { module } = splitToolId(id)!;
  const { selection } = findAgent(policy, tenant, identity.agent)!;
  const entry = selection.find((one) => [module, ALL_MODULES].includes(one.module));
  const how = entry?.tools === 'all' ? `all tools of ${entry.module === ALL_MODULES ? 'all modules' : module}` : 'it';
  const found = `agent ${nameAgent(identity.agent, declaringTenant(policy, tenant, identity.agent))} selected ${how}`;
  return { check: 'selection', passes: true, found, rule: placeOfAgent(policy, tenant, identity.agent) };
}

/** Path in the policy record of the agent's declaration that decides. */
function placeOfAgent(policy: Policy, tenant: string, agent: string): string[] {
  const own = declaringTenant(policy, tenant, agent);
  return [...(own === undefined ? [] : ['tenants', own]), 'agents', agent, 'selection'];
}

function answerPermission(policy: Policy, tool: ToolDeclaration, identity: Identity): CheckAnswer {
  // A pause has its own check, so the permission is checked as if nothing were paused.
  const answer = checkPermission({ ...policy, paused: {} }, tool, identity);
  if (answer.allowed) {
    const { entry, grantedTo } = answer;
    const found = `"${entry}" allows ${grantedTo}`;
    return { check: 'permission', passes: true, found, rule: ['permissions', entry, 'allow', grantedTo] };
  }
  if (answer.reason === 'denied' && answer.entry !== undefined) {
    const { entry } = answer;
    const name = findSubject(policy, policy.permissions[entry]?.deny ?? [], identity) ?? identity.subject;
    const found = `"${entry}" denies ${name}`;
    return { check: 'permission', passes: false, found, rule: ['permissions', entry, 'deny', name] };
  }
  return { check: 'permission', passes: false, ...describeNotGranted(policy, tool, identity) };
}

/**
 * A privileged tool stays closed despite entries that would open any other tool. The text states this; without it, an operator could not
 * find out why.
 */
function describeNotGranted(
  policy: Policy,
  { id, privileged }: ToolDeclaration,
  identity: Identity,
): Pick<CheckAnswer, 'found' | 'rule'> {
  const who = identity.tenant === 'default' ? identity.subject : `${identity.tenant}/${identity.subject}`;
  for (const [entry, { allow = [] }] of privileged ? matchingEntries(policy, id) : []) {
    const name = findSubject(policy, allow, identity);
    if (name === undefined) continue;
    const found = `"${entry}" allows ${name}, but a privileged tool is opened by name and to named subjects only`;
    return { found, rule: ['permissions', entry, 'allow', name] };
  }
  return { found: `no permission names ${who}` };
}

const NORMALISED = '; the worker normalises them before the rules, so what the rules will see is not known here';

function answerArguments(problems: readonly string[], { normalises }: ToolDeclaration): CheckAnswer {
  if (problems.length === 0) {
    const found = `they match the published schema${normalises === true ? NORMALISED : ''}`;
    return { check: 'arguments', passes: true, found };
  }
  return { check: 'arguments', passes: false, found: problems.join('; ') };
}

const SAYS: Readonly<Record<RuleVerdict, string>> = { allow: 'allows it', ask: 'asks a person', deny: 'denies it' };

/** `unattended`: why no person is asked about calls of this caller; undefined if a person is asked. */
function answerRules(
  { rules = [], unmatched }: Policy,
  foresight: RuleForesight,
  unattended: string | undefined,
): CheckAnswer {
  if (foresight.kind === 'depends') {
    const among = foresight.among.map(({ id, verdict }) => `"${id}" (${verdict})`).join(', ');
    const isAsked = unattended !== undefined && foresight.among.some(({ verdict }) => verdict === 'ask');
    const found = `depends on the arguments: ${among}${isAsked ? `; ${describeDenial(unattended)}` : ''}`;
    return { check: 'rules', passes: true, found };
  }
  const { verdict, by } = foresight;
  const isDenied = verdict === 'ask' && unattended !== undefined;
  const passes = verdict !== 'deny' && !isDenied;
  const denial = isDenied ? `; ${describeDenial(unattended)}` : '';
  if (by !== UNMATCHED) {
    const ruled = describeRule(by, verdict);
    return {
      check: 'rules',
      passes,
      found: `${denial === '' ? ruled : ruled.replace(/\.$/, '')}${denial}`,
      rule: ['rules', by.id],
    };
  }
  if (rules.length === 0 && unmatched === undefined) return { check: 'rules', passes, found: 'there are none' };
  const found = `none matches: unmatched ${SAYS[verdict]}${denial}`;
  return { check: 'rules', passes, found, ...(unmatched === undefined ? {} : { rule: ['unmatched'] }) };
}

/** A grant is an approval that a person gave earlier, so it counts in an unattended run too. */
function describeDenial(unattended: string): string {
  return `${unattended}, so what asks a person is denied at once unless a grant allows it`;
}

function describeRule({ id, reason }: Rule, verdict: RuleVerdict): string {
  return `"${id}" ${SAYS[verdict]}${reason === undefined ? '' : `: ${reason}`}`;
}
