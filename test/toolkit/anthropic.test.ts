import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { toAnthropic } from '../../src/exports/toolkit.ts';
import { sampleToolkit } from '../support/sample-toolkit.ts';
import { answeringFetch, backToTools, CALLS, callsByModel, PUBLISHED_SCHEMAS, type SentTool } from './model-call.ts';

const sentOf = ({ tools }: { tools?: unknown }): SentTool[] =>
  (tools as { name: string; input_schema: unknown }[]).map((tool) => ({ name: tool.name, schema: tool.input_schema }));

describe("Anthropic's client", () => {
  it('sends the tools of a message, and its calls lead back', async () => {
    const { fetch, bodies } = answeringFetch((body) => ({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
      content: callsByModel(sentOf(body)).map(({ name, args }, index) => ({
        type: 'tool_use',
        id: `call-${index}`,
        name,
        input: args,
      })),
    }));
    const client = new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', fetch, maxRetries: 0 });
    const tools: Anthropic.Tool[] = toAnthropic(sampleToolkit());
    const message = await client.messages.create({
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Go.' }],
      tools,
    });
    const said = message.content.map((block) => {
      if (block.type !== 'tool_use') throw new Error(block.type);
      return { name: block.name, args: block.input };
    });
    expect(backToTools(said)).toStrictEqual(CALLS);
    const sent = JSON.parse(bodies[0]!) as object;
    expect(sentOf(sent).map(({ schema }) => schema)).toStrictEqual(PUBLISHED_SCHEMAS);
  });
});
