import { normaliseSelection, type Catalog, type Policy, type SelectionInput } from 'sallyport/testing';

export interface Size {
  readonly agents: number;
  readonly modules: number;
  readonly toolsPerModule: number;
}

/** Parses the value again, as if it came from the store, so that nothing cached for another catalog or policy can help. */
const anew = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** Makes a catalog of tools with schemas of typical size. */
export function makeCatalog({ modules, toolsPerModule }: Size): () => Catalog {
  const catalog = {
    sequence: 1,
    digest: 'bench',
    modules: numbers(modules).map((m) => ({
      id: moduleName(m),
      description: 'One module of a large catalog.',
      version: '1.0.0',
      pool: 'default',
      digest: `module-${m}`,
      tools: numbers(toolsPerModule).map((t) => makeTool(m, t)),
    })),
  };
  return () => anew(catalog as unknown as Catalog);
}

/**
 * A tenth of the agents selects everything, three tenths select five whole modules, and the rest select twenty tools by name. A twentieth
 * of the tools is privileged, and the policy has an entry of its own for one tool in a hundred.
 */
export function makePolicy(size: Size): () => Policy {
  const agents = numbers(size.agents).map((agent) => {
    const { selection } = normaliseSelection(selectionOf(agent, size));
    return [agentName(agent), { selection }] as const;
  });
  const named = numbers(Math.ceil((size.modules * size.toolsPerModule) / 100)).map((index) => {
    const id = `${moduleName(index % size.modules)}.${toolName((index * 7) % size.toolsPerModule)}`;
    return [id, { allow: ['operator'], deny: ['mallory'] }] as const;
  });
  const permissions = { '*': { allow: ['*'] }, ...Object.fromEntries(named) };
  return () => anew({ roles: {}, permissions, paused: {}, agents: Object.fromEntries(agents) });
}

export const agentName = (agent: number): string => `agent-${agent}`;

function selectionOf(agent: number, { modules, toolsPerModule }: Size): SelectionInput {
  if (agent % 10 === 0) return [{ module: '*', tools: 'all' }];
  const chosen = numbers(5).map((index) => moduleName((agent * 13 + index * 17) % modules));
  if (agent % 10 <= 3) return chosen.map((module) => ({ module, tools: 'all' }));
  return chosen.map((module) => ({
    module,
    tools: numbers(4).map((index) => toolName((agent * 3 + index * 11) % toolsPerModule)),
  }));
}

function makeTool(module: number, tool: number): object {
  const id = `${moduleName(module)}.${toolName(tool)}`;
  return {
    id,
    description: `${id} looks for records that match a text and returns those the caller may see.`,
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string', minLength: 1, maxLength: 200, description: 'What to look for.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most.' },
        order: { enum: ['newest', 'oldest', 'best'] },
      },
      required: ['text'],
      additionalProperties: false,
    },
    effect: 'read',
    privileged: tool % 20 === 19,
    serial: false,
    limits: { timeoutMs: 60_000, maxAttempts: 3, waitMs: 10_000, maxResultBytes: 1024 },
    digest: `digest-of-${id}`,
  };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const padded = (number: number): string => String(number).padStart(3, '0');
const moduleName = (index: number): string => `bulk-${padded(index)}`;
const toolName = (index: number): string => `tool-${padded(index)}`;
