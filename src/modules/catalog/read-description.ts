import { z } from 'zod';
import { MAX_COST } from '../../domain/outcome/content.ts';
import { NAME_PATTERN, splitToolId, toolId, type ToolId } from '../../domain/identity/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { SECRET_DECLARATION } from '../../domain/secret/secret-reference.ts';
import { isSurfaceToolName, MAX_SURFACE_NAME, surfaceToolName } from '../../domain/tool/surface.ts';
import type { SurfaceDeclaration } from '../../domain/tool/module.ts';
import { EFFECTS, RUNNERS, type ToolDeclaration } from '../../domain/tool/tool.ts';
import { isUri, parseUriTemplate } from '../../base/uri-template.ts';
import { moduleDigest, toolDigest } from '../../domain/tool/digest.ts';
import type { LoadedModule } from './loaded-module.ts';
import type { ModuleEntry } from './module-entry.ts';

const MAX_DESCRIPTION_BYTES = 64 * 1024 * 1024;

const name = z.string().regex(NAME_PATTERN);
const schema = z.custom<JsonObject>(isJsonObject);
const count = z.int().min(0);
const toolShape = z.object({
  id: z.custom<ToolId>((id) => typeof id === 'string' && splitToolId(id) !== undefined),
  description: z.string(),
  inputSchema: schema,
  outputSchema: schema.optional(),
  effect: z.enum(EFFECTS),
  privileged: z.boolean(),
  serial: z.boolean(),
  pinned: z.literal('caller').optional(),
  normalises: z.literal(true).optional(),
  refusesUndeclared: z.literal(true).optional(),
  secrets: z.array(z.string().regex(SECRET_DECLARATION)).optional(),
  limits: z.object({
    timeoutMs: count,
    maxAttempts: count,
    waitMs: count,
    concurrency: count.optional(),
    maxResultBytes: count,
  }),
  poll: z.object({ everyMs: count }).optional(),
  progress: z.array(z.string()).optional(),
  cost: z.number().min(0).max(MAX_COST).optional(),
});
const surfaceName = {
  name: name.max(MAX_SURFACE_NAME),
  title: z.string().optional(),
  completes: z.literal(true).optional(),
};
const isTemplate = (text: string): boolean => parseUriTemplate(text).kind === 'template';
const resourceShape = { kind: z.literal('resource'), ...surfaceName, mediaType: z.string().optional() };
const surfaceShape = toolShape.extend({
  effect: z.literal('read'),
  privileged: z.literal(false),
  pinned: z.undefined().optional(),
  surface: z.union([
    z.strictObject({ ...resourceShape, uri: z.string().refine(isUri) }),
    z.strictObject({ ...resourceShape, uriTemplate: z.string().refine(isTemplate) }),
    z.strictObject({
      kind: z.literal('prompt'),
      ...surfaceName,
      arguments: z.array(
        z.strictObject({
          name: z.string(),
          title: z.string().optional(),
          description: z.string().optional(),
          required: z.boolean(),
        }),
      ),
    }),
  ]),
});
const descriptionShape = z.object({
  id: name,
  description: z.string(),
  version: z.string(),
  pool: name.optional(),
  runner: z.enum(RUNNERS),
  needs: z.array(name).max(20).optional(),
  tools: z.array(toolShape),
  surfaces: z.array(surfaceShape).optional(),
  denialPatterns: z.record(z.string(), z.array(z.string())),
});

export type ReadDescription =
  | { readonly kind: 'module'; readonly module: Omit<LoadedModule, 'file' | 'generation' | 'setup'> }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * Reads what the child process reported about a module. It was made in a process that runs the module's own code, so its shape is checked
 * again and digests are computed here. The entry's pool and runner take precedence over the module's.
 */
export function readDescription(json: string, entry: ModuleEntry, defaultPool: string): ReadDescription {
  if (json.length > MAX_DESCRIPTION_BYTES)
    return { kind: 'problem', problem: `Its description has ${json.length} bytes.` };
  const parsed = descriptionShape.safeParse(parse(json));
  if (!parsed.success) return { kind: 'problem', problem: 'Its description cannot be read.' };
  const { id, version, description, denialPatterns } = parsed.data;
  const problem = findNameProblem(
    id,
    entry.id,
    [...parsed.data.tools, ...(parsed.data.surfaces ?? [])].map((tool) => tool.id),
  );
  const misnamed = findMisnamed(id, parsed.data);
  if (misnamed !== undefined) return { kind: 'problem', problem: misnamed };
  if (problem !== undefined) return { kind: 'problem', problem };
  const pool = entry.pool ?? parsed.data.pool ?? defaultPool;
  // Members are absent, never undefined: what is published is compared and hashed member by member.
  const tools = withDigests<ToolDeclaration>(parsed.data.tools);
  const { surfaces } = parsed.data;
  const beside = surfaces === undefined ? {} : { surfaces: withDigests<SurfaceDeclaration>(surfaces) };
  const shown = { id, description, version, pool, tools, ...beside };
  return {
    kind: 'module',
    module: {
      declaration: { ...shown, digest: moduleDigest(shown) },
      runner: entry.runner ?? parsed.data.runner,
      denialPatterns,
      ...(parsed.data.needs === undefined ? {} : { needs: parsed.data.needs }),
    },
  };
}

function withDigests<Declaration extends ToolDeclaration>(entries: readonly object[]): Declaration[] {
  return entries
    .map((entry) => ({ ...entry, digest: toolDigest(entry as ToolDeclaration) }) as Declaration)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Finds an entry whose id does not match its kind, for example a tool with the id of a resource. Selections and permissions go by the id.
 */
function findMisnamed(module: string, { tools, surfaces = [] }: z.infer<typeof descriptionShape>): string | undefined {
  const misnamed =
    tools.find(({ id }) => isSurfaceToolName(id.slice(module.length + 1))) ??
    surfaces.find(({ id, surface }) => id !== toolId(module, surfaceToolName(surface.kind, surface.name)));
  return misnamed === undefined ? undefined : `${misnamed.id} is not what it is called.`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function findNameProblem(id: string, wanted: string | undefined, tools: readonly ToolId[]): string | undefined {
  if (wanted !== undefined && id !== wanted) return `It calls itself "${id}" instead of "${wanted}".`;
  const taken = new Map<string, string>();
  for (const tool of tools) {
    if (!tool.startsWith(`${id}.`)) return 'A tool does not belong to it.';
    // Model providers and file systems ignore case and treat `_` like `-`, so two such tools would get the same name there.
    const folded = tool.toLowerCase().replaceAll('_', '-');
    const other = taken.get(folded);
    if (other !== undefined) return `Its tools ${other} and ${tool} are easily confused.`;
    taken.set(folded, tool);
  }
  return undefined;
}
