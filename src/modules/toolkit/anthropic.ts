import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { nameTools, type ObjectSchema } from './named-tools.ts';

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: ObjectSchema & { required?: string[] };
}

/** The `tools` of Anthropic's messages API. */
export function toAnthropic(tools: readonly PublishedTool[]): AnthropicTool[] {
  return nameTools(tools).map(({ name, tool, inputSchema }) => ({
    name,
    description: tool.description,
    input_schema: inputSchema as AnthropicTool['input_schema'],
  }));
}
