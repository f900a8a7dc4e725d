import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CatalogSize {
  readonly modules: number;
  readonly toolsPerModule: number;
}

export const LARGE: CatalogSize = { modules: 100, toolsPerModule: 100 };

/** Pads numbers to one width, so that the order of the names is the order of the numbers. */
const padded = (number: number): string => String(number).padStart(3, '0');
const moduleName = (index: number): string => `bulk-${padded(index)}`;
const toolName = (index: number): string => `tool-${padded(index)}`;

export function firstTool(): string {
  return `${moduleName(0)}.${toolName(0)}`;
}

export function lastTool({ modules, toolsPerModule }: CatalogSize): string {
  return `${moduleName(modules - 1)}.${toolName(toolsPerModule - 1)}`;
}

/** Writes module files with plain JSON Schemas of typical size. The folder must be where `sallyport/tool` can be resolved. */
export function writeModules(
  folder: string,
  size: CatalogSize = LARGE,
  fileOf: (index: number) => string = moduleName,
): void {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < size.modules; index += 1) {
    writeFileSync(join(folder, `${fileOf(index)}.mjs`), moduleText(moduleName(index), size.toolsPerModule));
  }
}

function moduleText(id: string, tools: number): string {
  return `import { defineModule, jsonSchema, tool } from 'sallyport/tool';

const make = (name) =>
  tool({
    description: name + ' of ${id}: looks for records that match a text and returns those the caller may see.',
    input: jsonSchema({
      type: 'object',
      properties: {
        text: { type: 'string', minLength: 1, maxLength: 200, description: 'What to look for.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most.' },
        tags: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9-]{1,40}$' }, maxItems: 10 },
        order: { enum: ['newest', 'oldest', 'best'] },
        from: { const: name },
      },
      required: ['text'],
      additionalProperties: false,
    }),
    output: jsonSchema({
      type: 'object',
      properties: { found: { type: 'string' }, by: { type: 'string' } },
      required: ['found', 'by'],
    }),
    effect: 'read',
    run: ({ text }) => ({ found: text, by: '${id}.' + name }),
  });

const names = Array.from({ length: ${tools} }, (_, index) => 'tool-' + String(index).padStart(3, '0'));

export default defineModule({
  id: '${id}',
  version: '1.0.0',
  description: 'One module of a large catalog.',
  tools: Object.fromEntries(names.map((name) => [name, make(name)])),
});
`;
}
