import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { nameTools, type ObjectSchema } from './named-tools.ts';

export interface OpenAiChatTool {
  type: 'function';
  function: { name: string; description: string; parameters: ObjectSchema };
}

/** The `tools` of OpenAI's chat completions API, and of the many servers that implement it. Not strict, which is that API's default. */
export function toOpenAiChat(tools: readonly PublishedTool[]): OpenAiChatTool[] {
  return nameTools(tools).map(({ name, tool, inputSchema }) => ({
    type: 'function',
    function: { name, description: tool.description, parameters: inputSchema },
  }));
}
