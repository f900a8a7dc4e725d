import { isJsonObject } from '../../base/json.ts';
import { EFFECTS, type Effect } from '../../domain/tool/tool.ts';
import { sha256 } from '../../base/sha256.ts';
import type { GatedTool, LoopFacts } from './gate-parts.ts';
import { isToolId, toolIdOf } from './tool-id.ts';

/** Facts about a tool that are given where it is wrapped. What is left out is read from the tool itself. */
export interface ToolFacts extends LoopFacts {
  /** The id by which hooks and rules know the tool: `module.tool`, or a name. Default: the tool's own name. */
  readonly id?: string;
  /** Prefix of the id, which becomes `module.name`. */
  readonly module?: string;
  /** Default: what the tool itself declares, otherwise `unsafe`. */
  readonly effect?: Effect;
  readonly privileged?: boolean;
}

const MAX_DESCRIPTION_LENGTH = 10_000;

/** `name` is the name by which the tool is known where it is wrapped, if that differs from its own name. */
export function describeTool(tool: object, facts: ToolFacts, name = ownName(tool)): GatedTool {
  const id = idFor(facts, name);
  const said = tool as Record<string, unknown>;
  const effect = facts.effect ?? EFFECTS.find((known) => known === said['effect']) ?? 'unsafe';
  const privileged = facts.privileged ?? said['privileged'] === true;
  const description = ownText(tool, 'description')?.slice(0, MAX_DESCRIPTION_LENGTH) ?? '';
  const digest = sha256(JSON.stringify([id, effect, privileged, description]));
  return { id, effect, privileged, digest, ...loopFacts(said, facts) };
}

function idFor({ id, module }: ToolFacts, name: string | undefined): GatedTool['id'] {
  const prefix = module === undefined ? '' : `${module}.`;
  // An `id` in the options that is already a tool id is not mapped again, so that a program can use an id that it got from an event.
  if (id !== undefined) return isToolId(prefix + id) ? ((prefix + id) as GatedTool['id']) : toolIdOf(prefix + id);
  if (name === undefined || name === '') throw new TypeError('A tool needs a name: say { id }.');
  return toolIdOf(prefix + name);
}

function ownName(tool: object): string | undefined {
  return ownText(tool, 'name');
}

function ownText(tool: object, member: 'name' | 'description'): string | undefined {
  const { [member]: own, function: inner } = tool as Record<string, unknown>;
  const ofFunction = isJsonObject(inner) ? inner[member] : undefined;
  return [own, ofFunction].find((given) => typeof given === 'string' && given !== '') as string | undefined;
}

const IS_FACT: { readonly [Name in keyof Required<LoopFacts>]: (value: unknown) => boolean } = {
  poll: (value) => isJsonObject(value) && isAmount(value['everyMs']) && value['everyMs'] !== 0,
  progress: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  cost: isAmount,
};

/**
 * Reads the facts for loop detection. A wrong value in the wrap options throws. A member of the tool itself that has the same name but
 * another shape means something else and is ignored.
 */
function loopFacts(said: Readonly<Record<string, unknown>>, facts: LoopFacts): LoopFacts {
  const names = ['poll', 'progress', 'cost'] as const;
  const found = names.flatMap((name) => {
    const given: unknown = facts[name];
    if (given !== undefined && !IS_FACT[name](given)) {
      throw new TypeError(`${name} of a tool must be as in docs/loops.md: { everyMs }, a list of pointers, a number.`);
    }
    const value = given ?? said[name];
    return value !== undefined && IS_FACT[name](value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
