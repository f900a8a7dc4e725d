import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { nameTools, type ObjectSchema } from './named-tools.ts';

export interface OpenAiResponsesTool {
  type: 'function';
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: false;
}

/**
 * The `tools` of OpenAI's responses API. Strict mode is that API's default. It rewrites a schema until every property is required, which
 * differs from what the worker checks, so it is switched off explicitly.
 */
export function toOpenAiResponses(tools: readonly PublishedTool[]): OpenAiResponsesTool[] {
  return nameTools(tools).map(({ name, tool, inputSchema }) => ({
    type: 'function',
    name,
    description: tool.description,
    parameters: inputSchema,
    strict: false,
  }));
}
