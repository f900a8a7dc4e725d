// `sallyport/toolkit`: converts an agent's toolkit to the forms that model providers take. Loading it needs no provider's package.
export {
  makeAiSdkTools,
  toAiSdk,
  type AiSdk,
  type AiSdkCallOptions,
  type AiSdkTool,
  type RunToolCall,
} from '../modules/toolkit/ai-sdk.ts';
export { toAnthropic, type AnthropicTool } from '../modules/toolkit/anthropic.ts';
export { findRefusals, type Provider, type Refusal } from '../modules/toolkit/find-refusals.ts';
export { toLangChain, type LangChainTool } from '../modules/toolkit/langchain.ts';
export { toMcp, type McpTool } from '../modules/toolkit/mcp.ts';
export { toolNames, type ObjectSchema, type ToolNames } from '../modules/toolkit/named-tools.ts';
export { toOpenAiChat, type OpenAiChatTool } from '../modules/toolkit/openai-chat.ts';
export { toOpenAiResponses, type OpenAiResponsesTool } from '../modules/toolkit/openai-responses.ts';
export { TOOL_NAME_PATTERN, toolName } from '../modules/toolkit/tool-name.ts';
export type { PublishedTool } from '../domain/tool/catalog.ts';
export type { JsonObject } from '../base/json.ts';
