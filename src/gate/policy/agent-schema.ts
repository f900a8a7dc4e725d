import { z } from 'zod';
import { planeError } from '../../domain/errors/errors.ts';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import type { TenantPolicy } from '../../domain/policy/policy.ts';
import {
  ALL_MODULES,
  normaliseSelection,
  type AgentDeclaration,
  type SelectionInput,
} from '../../domain/identity/selection.ts';
import { describeIssue, type NearNames } from '../../base/settings/describe-issue.ts';
import type { SettingsFile } from '../../base/settings/read-settings-file.ts';

const MAX_ENTRIES = 1000;
const MAX_NAMES = 10_000;
const MAX_DESCRIPTION_LENGTH = 2048;

/** Names that have a special meaning as members of plain objects, where agents and tenants are stored. Files may not use them as keys either. */
const FORBIDDEN_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** The text of an agent's or subject's name, with the same rules as in a session. */
export const plainText = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,256}$/u, 'expected text of 1 to 256 characters without control characters');
/** A tenant's name, with the same rules as in a session. It has no slash, so that TENANT/SUBJECT can be read in only one way. */
export const tenantName = plainText
  .refine((name) => !FORBIDDEN_NAMES.includes(name), { message: 'expected another name' })
  .refine((name) => !name.includes('/'), { message: 'a tenant has no slash' });
export const agentName = plainText.refine((name) => !FORBIDDEN_NAMES.includes(name), {
  message: 'expected another name',
});

/** An entry with a blank name is left out, and its author gets a warning. A name that no module can have is rejected. */
const moduleName = z
  .string()
  .nullable()
  .transform((name) => name ?? '')
  .refine((name) => isBlank(name) || name === ALL_MODULES || NAME_PATTERN.test(name), {
    message: 'expected the id of a module, or * for all',
  });
const toolName = z.string().regex(NAME_PATTERN, 'expected the name of a tool, without its module');
const switches = z
  .record(toolName, z.boolean('expected true or false'))
  .refine((names) => Object.keys(names).length <= MAX_NAMES, { message: `expected at most ${MAX_NAMES} names` });

/**
 * One schema with all four members, not a union of the two forms. A union would only report that no form fits, and not where the problem
 * is.
 */
const entry = z
  .strictObject({
    module: moduleName.exactOptional(),
    tools: z
      .union([z.literal('all'), z.array(toolName).max(MAX_NAMES), switches], {
        error: 'expected all, a list of names, or a map of names to true or false',
      })
      .exactOptional(),
    setup_id: moduleName.exactOptional(),
    triggers: switches.exactOptional(),
  })
  .superRefine((given, context) => {
    const problem = findFormProblem(given);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .transform((given) => {
    const { module = '', setup_id: setup = '', tools, triggers } = given;
    const entry = tools === undefined ? { setup_id: setup, triggers } : { module, tools };
    return entry as SelectionInput[number];
  });

/**
 * The allowed sets of keys. An entry may omit its module, as if a form field was left empty, but it must always say which tools it selects.
 */
const FORMS = ['module,tools', 'tools', 'setup_id,triggers', 'triggers'];

function isBlank(name: string): boolean {
  return name.trim() === '';
}

function findFormProblem(given: Partial<Record<'module' | 'tools' | 'setup_id' | 'triggers', unknown>>) {
  const keys = Object.keys(given).sort().join();
  if (!FORMS.includes(keys)) return 'expected module and tools, or setup_id and triggers';
  const everything = given.module === ALL_MODULES || given.setup_id === ALL_MODULES;
  return everything && given.tools !== 'all' ? 'module * takes all tools: write tools: all' : undefined;
}

const selection = z.array(entry).max(MAX_ENTRIES).readonly();
const declaration = z.strictObject({
  description: z
    .string()
    .max(MAX_DESCRIPTION_LENGTH)
    .regex(/^\P{Cs}*$/u, 'expected text without halves of characters')
    .exactOptional(),
  selection,
});

/** `null` means that this deployment no longer uses selections. */
export const agentsSchema = z.record(agentName, declaration).nullable();
type AgentsInput = NonNullable<z.output<typeof agentsSchema>>;

/** Agents that are declared for one tenant. */
export const tenantsSchema = z.record(tenantName, z.strictObject({ agents: agentsSchema.unwrap() })).nullable();

/** Normalises `tenants` of a policy file. */
export function normaliseTenants(tenants: NonNullable<z.output<typeof tenantsSchema>>): {
  tenants: Readonly<Record<string, TenantPolicy>>;
  warnings: string[];
} {
  const read = Object.entries(tenants).map(
    ([tenant, { agents }]) => [tenant, normaliseAgents(agents, `tenants.${tenant}.agents`)] as const,
  );
  return {
    tenants: Object.fromEntries(read.map(([tenant, { agents }]) => [tenant, { agents }])),
    warnings: read.flatMap(([, { warnings }]) => warnings),
  };
}

export function keysOfAgents(path: string): readonly string[] {
  return /(^|\.)selection\.\d+$|^\d+$/.test(path)
    ? ['module', 'tools', 'setup_id', 'triggers']
    : ['description', 'selection'];
}

export interface ReadDeclaration {
  readonly declaration: AgentDeclaration;
  readonly warnings: readonly string[];
}

/** Converts selections to the one form that is stored. */
export function normaliseAgents(
  agents: AgentsInput,
  where = 'agents',
): {
  agents: Readonly<Record<string, AgentDeclaration>>;
  warnings: string[];
} {
  const read = Object.entries(agents).map(([name, given]) => [name, normalise(name, given, where)] as const);
  return {
    agents: Object.fromEntries(read.map(([name, one]) => [name, one.declaration])),
    warnings: read.flatMap(([, one]) => one.warnings),
  };
}

const MAX_LISTED = 5;

function listTools(tools: 'all' | readonly string[]): string {
  if (tools === 'all') return 'all of its tools';
  if (tools.length === 0) return 'none of its tools';
  return tools.length > MAX_LISTED ? `${tools.length} of its tools` : tools.join(', ');
}

function normalise(name: string, given: AgentsInput[string], where = 'agents'): ReadDeclaration {
  const { selection: normalised, duplicates, blanks } = normaliseSelection(given.selection);
  const warnings = duplicates.map((module) => {
    const merged = normalised.find((entry) => entry.module === module)?.tools ?? [];
    return `${where}.${name} has several entries for module ${module}; together they select ${listTools(merged)}`;
  });
  if (blanks > 0) {
    const entries = blanks === 1 ? 'an entry' : `${blanks} entries`;
    warnings.push(
      `${where}.${name} has ${entries} without a module id; ${blanks === 1 ? 'it is' : 'they are'} left out`,
    );
  }
  return { declaration: { ...given, selection: normalised }, warnings };
}

interface DeclarationNeeds {
  readonly placeOf: SettingsFile['placeOf'];
  readonly near: NearNames;
}

/**
 * Reads the input of `agents set`: a whole declaration of an agent, or a list, which is the agent's selection of tools without a
 * description. Throws POLICY_INVALID with at most 8 problems and their places.
 */
export function readDeclaration(name: string, value: unknown, needs: DeclarationNeeds): ReadDeclaration {
  const read = checkDeclaration(name, value, needs);
  if (!('problems' in read)) return read;
  throw planeError('POLICY_INVALID', { problems: read.problems.slice(0, 8) });
}

export function checkDeclaration(
  name: string,
  value: unknown,
  needs: DeclarationNeeds,
): ReadDeclaration | { readonly problems: readonly string[] } {
  const isSelection = Array.isArray(value);
  const parsed = isSelection
    ? selection.safeParse(value, { reportInput: true })
    : declaration.safeParse(value, { reportInput: true });
  if (!parsed.success) {
    const asked = { ...needs, keysBelow: keysOfAgents, expects: () => undefined };
    return { problems: parsed.error.issues.flatMap((issue) => describeIssue(issue, asked)) };
  }
  const given = Array.isArray(parsed.data) ? { selection: parsed.data } : parsed.data;
  return normalise(name, given as AgentsInput[string]);
}
