import type Anthropic from '@anthropic-ai/sdk';
import { tool, type StructuredTool } from '@langchain/core/tools';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import * as ai from 'ai';
import type OpenAI from 'openai';
import { outcomeText, pendingText, type Client, type SessionHandle } from 'sallyport/client';
import {
  findRefusals,
  makeAiSdkTools,
  toAnthropic,
  toLangChain,
  toMcp,
  toolNames,
  toOpenAiChat,
  toOpenAiResponses,
  type JsonObject,
  type Provider,
  type PublishedTool,
} from 'sallyport/toolkit';

export async function readTools(client: Client, session: SessionHandle): Promise<readonly PublishedTool[]> {
  // #region tools
  const { tools } = await client.toolkit(session);
  // #endregion
  return tools;
}

export type Run = (id: string | undefined, args: JsonObject, key: string) => Promise<string>;

export function makeRun(client: Client, session: SessionHandle): Run {
  // #region run
  /** What the model is told about a call it made. `id` is undefined when it made up the name. */
  async function run(id: string | undefined, args: JsonObject, key: string): Promise<string> {
    if (id === undefined) return 'There is no such tool.';
    const answer = await client.call(session, id, args, { key });
    if (answer.kind === 'pending') return pendingText(answer);
    return outcomeText(answer.outcome);
  }
  // #endregion
  return run;
}

export async function chat(openai: OpenAI, tools: readonly PublishedTool[], run: Run) {
  // #region openai-chat
  const { toolIdOf } = toolNames(tools);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What time is it?' }];
  const asked = await openai.chat.completions.create({ model: 'gpt-5.2', messages, tools: toOpenAiChat(tools) });
  const { message } = asked.choices[0]!;
  messages.push(message);
  for (const call of message.tool_calls ?? []) {
    if (call.type !== 'function') continue;
    const args = JSON.parse(call.function.arguments) as JsonObject;
    const content = await run(toolIdOf(call.function.name), args, call.id);
    messages.push({ role: 'tool', tool_call_id: call.id, content });
  }
  // #endregion
  return messages;
}

export async function respond(openai: OpenAI, tools: readonly PublishedTool[], run: Run) {
  const { toolIdOf } = toolNames(tools);
  // #region openai-responses
  const asked = { model: 'gpt-5.2', tools: toOpenAiResponses(tools) };
  const response = await openai.responses.create({ ...asked, input: 'What time is it?' });
  const input: OpenAI.Responses.ResponseInputItem[] = [];
  for (const item of response.output) {
    if (item.type !== 'function_call') continue;
    const output = await run(toolIdOf(item.name), JSON.parse(item.arguments) as JsonObject, item.call_id);
    input.push({ type: 'function_call_output', call_id: item.call_id, output });
  }
  const next = await openai.responses.create({ ...asked, previous_response_id: response.id, input });
  // #endregion
  return next;
}

export async function ask(anthropic: Anthropic, tools: readonly PublishedTool[], run: Run) {
  const { toolIdOf } = toolNames(tools);
  // #region anthropic
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What time is it?' }];
  const { content } = await anthropic.messages.create({
    model: 'claude-opus-4-6',
    max_tokens: 1000,
    messages,
    tools: toAnthropic(tools),
  });
  const results: Anthropic.ToolResultBlockParam[] = [];
  for (const block of content) {
    if (block.type !== 'tool_use') continue;
    const result = await run(toolIdOf(block.name), block.input as JsonObject, block.id);
    results.push({ type: 'tool_result', tool_use_id: block.id, content: result });
  }
  messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  // #endregion
  return messages;
}

export async function generate(model: ai.LanguageModel, tools: readonly PublishedTool[], run: Run) {
  // #region ai-sdk
  const generated = await ai.generateText({
    model,
    prompt: 'What time is it?',
    tools: makeAiSdkTools(ai, tools, (id, args, { toolCallId }) => run(id, args, toolCallId)),
    stopWhen: ai.stepCountIs(10),
  });
  // #endregion
  return generated;
}

export function makeLangChainTools(tools: readonly PublishedTool[], run: Run): StructuredTool[] {
  const { toolIdOf } = toolNames(tools);
  // #region langchain
  const made = toLangChain(tools).map((fields) =>
    tool((args: unknown, { toolCall }) => run(toolIdOf(fields.name), args as JsonObject, toolCall!.id!), fields),
  );
  // #endregion
  return made;
}

export function makeMcpServer(client: Client, session: SessionHandle, tools: readonly PublishedTool[]): Server {
  const { toolIdOf } = toolNames(tools);
  // #region mcp
  const server = new Server({ name: 'sallyport', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toMcp(tools) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const id = toolIdOf(params.name);
    if (id === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool "${params.name}".`);
    const answer = await client.call(session, id, (params.arguments ?? {}) as JsonObject);
    if (answer.kind === 'pending') return { isError: true, content: [{ type: 'text', text: pendingText(answer) }] };
    const { kind, structured, advice } = answer.outcome;
    const isObject = typeof structured === 'object' && structured !== null && !Array.isArray(structured);
    return {
      isError: kind !== 'ok',
      content: [{ type: 'text', text: outcomeText(answer.outcome) }],
      // What an output schema promised; the worker has checked it already.
      ...(isObject ? { structuredContent: structured } : {}),
      ...(advice === undefined ? {} : { _meta: { advice } }),
    };
  });
  // #endregion
  return server;
}

export function leaveOutRefused(tools: readonly PublishedTool[], provider: Provider): readonly PublishedTool[] {
  // #region refusals
  const refusals = findRefusals(tools, provider);
  for (const { tool, reason } of refusals) console.warn(`left out ${tool}: ${reason}`);
  const refused = new Set(refusals.map(({ tool }) => tool));
  const accepted = tools.filter(({ tool }) => !refused.has(tool.id));
  // #endregion
  return accepted;
}
