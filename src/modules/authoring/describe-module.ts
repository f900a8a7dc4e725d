import { RE2JS } from 're2js';
import { NAME_PATTERN, toolId, type ToolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ModuleDeclaration } from '../../domain/tool/module.ts';
import { EFFECTS, RUNNERS, type Effect, type RunnerName, type ToolDeclaration } from '../../domain/tool/tool.ts';
import { isSurfaceToolName } from '../../domain/tool/surface.ts';
import { moduleDigest, toolDigest } from '../../domain/tool/digest.ts';
import { findSchemaProblem, isObjectSchema } from './check-schema.ts';
import type { ModuleDefinition, ToolDefinition } from './define-module.ts';
import { describeSurfaces } from './describe-surfaces.ts';
import { deriveJsonSchema } from './json-schema.ts';
import { removesUndeclared } from './standard-schema.ts';
import {
  checkDescription,
  checkFlag,
  checkMembers,
  checkSecrets,
  fail,
  membersOf,
  ModuleProblem,
  normalisesOf,
} from './module-problem.ts';
import { readAccounts } from './read-accounts.ts';
import { resolveLimits } from './resolve-limits.ts';

/** A module as data: what is published, plus what only the worker needs. */
export interface ModuleDescription extends Omit<ModuleDeclaration, 'pool' | 'digest'> {
  /** Absent: the loader chooses the pool, then `declareModule` adds the digest. */
  readonly pool?: string;
  readonly runner: RunnerName;
  readonly setupSchema?: JsonObject;
  /** Names of the services that the module needs; absent if it needs none. */
  readonly needs?: readonly string[];
  readonly denials: ReadonlyMap<ToolId, readonly string[]>;
}

const MODULE_MEMBERS = membersOf<ModuleDefinition>({
  id: true,
  version: true,
  description: true,
  pool: true,
  runner: true,
  setup: true,
  needs: true,
  tools: true,
  resources: true,
  prompts: true,
});
const TOOL_MEMBERS = membersOf<ToolDefinition>({
  description: true,
  input: true,
  output: true,
  effect: true,
  privileged: true,
  serial: true,
  pinned: true,
  normalises: true,
  secrets: true,
  limits: true,
  poll: true,
  progress: true,
  cost: true,
  denials: true,
  run: true,
});
const MAX_TOOLS = 1000;
const MAX_DENIALS = 20;
const MAX_NEEDS = 20;

/**
 * Checks what a module file exports and turns it into data. Throws ModuleProblem, and only that.
 * `id` names one of several instances of the same file; without it the module's own id is used.
 */
export function describeModule(exported: unknown, options: { readonly id?: string } = {}): ModuleDescription {
  try {
    return describe(asModule(exported), options.id);
  } catch (error) {
    if (error instanceof ModuleProblem) throw error;
    throw new ModuleProblem(`The module cannot be read: ${error instanceof Error ? error.message : 'it threw'}.`);
  }
}

/** The published form of a module, once its pool is known. */
export function declareModule(description: ModuleDescription, pool: string): ModuleDeclaration {
  const { id, version, tools, surfaces } = description;
  return {
    id,
    description: description.description,
    version,
    pool,
    tools,
    ...(surfaces === undefined ? {} : { surfaces }),
    digest: moduleDigest({ ...description, pool }),
  };
}

function asModule(exported: unknown): ModuleDefinition {
  if (typeof exported !== 'object' || exported === null) {
    throw new ModuleProblem('The file has no module as its default export; use: export default defineModule({ … }).');
  }
  const module = exported as ModuleDefinition;
  if (typeof module.tools !== 'object' || module.tools === null) throw new ModuleProblem('The module has no "tools".');
  return module;
}

function describe(module: ModuleDefinition, instanceId: string | undefined): ModuleDescription {
  const id = checkName(instanceId ?? module.id, 'module id');
  const where = `Module ${id}`;
  checkMembers(module, MODULE_MEMBERS, where);
  const { version, pool, runner = 'inline', setup, needs } = module;
  if (typeof version !== 'string' || !/^[\w.+-]{1,64}$/u.test(version)) fail(where, 'needs a "version" like "1.0.0"');
  if (!RUNNERS.includes(runner)) fail(where, `has an unknown runner; known: ${RUNNERS.join(', ')}`);
  const names = Object.keys(module.tools);
  const surfaces = describeSurfaces(id, module);
  if ((names.length === 0 && surfaces.length === 0) || names.length > MAX_TOOLS)
    fail(where, `has ${names.length} tools; 1 to ${MAX_TOOLS} are possible`);
  const setupSchema = setup === undefined ? undefined : publishSchema(setup, where, 'setup');
  return {
    id,
    version,
    description: checkDescription(module.description, where),
    ...(pool === undefined ? {} : { pool: checkName(pool, `pool of module ${id}`) }),
    runner,
    ...(setupSchema === undefined ? {} : { setupSchema }),
    ...(needs === undefined ? {} : { needs: checkNeeds(needs, where) }),
    tools: names.map((name) => describeTool(id, name, module.tools[name])),
    ...(surfaces.length === 0 ? {} : { surfaces }),
    denials: new Map(names.map((name) => [toolId(id, name), describeDenials(id, name, module.tools[name])])),
  };
}

function describeTool(module: string, name: string, definition: ToolDefinition | undefined): ToolDeclaration {
  const id = toolId(module, checkName(name, `tool name in module ${module}`));
  const where = `Tool ${id}`;
  if (isSurfaceToolName(name)) fail(where, 'has a name that is kept for resources and prompts');
  if (typeof definition !== 'object' || definition === null) fail(where, 'is not a tool; use tool({ … })');
  checkMembers(definition, TOOL_MEMBERS, where);
  if (typeof definition.run !== 'function') fail(where, 'has no function "run"');
  const effect = definition.effect ?? 'unsafe';
  if (!EFFECTS.includes(effect)) fail(where, `has an unknown effect; known: ${EFFECTS.join(', ')}`);
  if (definition.pinned !== undefined && definition.pinned !== 'caller') fail(where, '"pinned" can only be "caller"');
  const inputSchema = publishSchema(definition.input, where, 'input');
  if (!isObjectSchema(inputSchema)) fail(where, 'has an input schema whose root type is not "object"');
  const shown = {
    id,
    description: checkDescription(definition.description, where),
    inputSchema,
    ...(definition.output === undefined ? {} : { outputSchema: publishSchema(definition.output, where, 'output') }),
    effect,
    privileged: checkFlag(definition.privileged, where, 'privileged'),
    serial: checkFlag(definition.serial, where, 'serial'),
    ...(definition.pinned === undefined ? {} : { pinned: definition.pinned }),
    ...normalisesOf(definition.normalises, definition.input, where),
    ...(definition.secrets === undefined ? {} : { secrets: checkSecrets(definition.secrets, where) }),
  };
  const accounts = readAccounts(definition);
  if (accounts.kind === 'problem') fail(where, accounts.problem);
  return {
    ...shown,
    ...(removesUndeclared(definition.input) ? { refusesUndeclared: true } : {}),
    limits: limitsOf(definition, effect, where),
    ...accounts.accounts,
    digest: toolDigest(shown),
  };
}

function limitsOf(definition: ToolDefinition, effect: Effect, where: string): ToolDeclaration['limits'] {
  const resolved = resolveLimits(definition.limits ?? {}, effect);
  return resolved.kind === 'problem' ? fail(where, resolved.problem) : resolved.limits;
}

function describeDenials(module: string, name: string, definition: ToolDefinition | undefined): readonly string[] {
  const patterns = definition?.denials ?? [];
  const where = `Tool ${module}.${name}`;
  if (!Array.isArray(patterns) || patterns.length > MAX_DENIALS)
    fail(where, `may have a list of up to ${MAX_DENIALS} denials`);
  for (const pattern of patterns as readonly unknown[]) {
    try {
      if (typeof pattern !== 'string' || pattern === '' || pattern.length > 500) throw new TypeError();
      RE2JS.compile(pattern);
    } catch {
      fail(where, `has a denial that is no RE2 pattern: ${JSON.stringify(pattern)?.slice(0, 80)}`);
    }
  }
  return [...patterns];
}

function publishSchema(schema: unknown, where: string, side: string): JsonObject {
  let derived: JsonObject;
  try {
    derived = deriveJsonSchema(schema);
  } catch (error) {
    return fail(
      where,
      `has an ${side} schema that cannot be published: ${error instanceof Error ? error.message : 'it threw'}`,
    );
  }
  const problem = findSchemaProblem(derived);
  return problem === undefined ? derived : fail(where, `has an ${side} schema that cannot be published: ${problem}`);
}

function checkName(name: unknown, what: string): string {
  if (typeof name === 'string' && NAME_PATTERN.test(name)) return name;
  throw new ModuleProblem(
    `The ${what} ${JSON.stringify(name)?.slice(0, 80)} is not usable: letters, digits, "_" and "-", 1 to 64 of them, the first a letter or digit.`,
  );
}

function checkNeeds(needs: unknown, where: string): readonly string[] {
  if (!Array.isArray(needs) || needs.length > MAX_NEEDS) fail(where, `may need a list of up to ${MAX_NEEDS} services`);
  return [...new Set(needs.map((name: unknown) => checkName(name, 'service')))];
}
