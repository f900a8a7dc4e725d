import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { toOpenAiChat, toOpenAiResponses } from '../../src/exports/toolkit.ts';
import { sampleToolkit } from '../support/sample-toolkit.ts';
import { answeringFetch, backToTools, CALLS, callsByModel, PUBLISHED_SCHEMAS, type SentTool } from './model-call.ts';

function openClient(fetch: typeof globalThis.fetch): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 });
}

describe("OpenAI's client", () => {
  it('sends the tools of a chat completion, and its calls lead back', async () => {
    const sentOf = ({ tools }: { tools?: unknown }): SentTool[] =>
      (tools as { function: { name: string; parameters: unknown } }[]).map((tool) => ({
        name: tool.function.name,
        schema: tool.function.parameters,
      }));
    const { fetch, bodies } = answeringFetch((body) => ({
      id: 'c',
      object: 'chat.completion',
      created: 0,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: callsByModel(sentOf(body)).map(({ name, args }, index) => ({
              id: `call-${index}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            })),
          },
        },
      ],
    }));
    const tools: OpenAI.ChatCompletionTool[] = toOpenAiChat(sampleToolkit());
    const completion = await openClient(fetch).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'Go.' }],
      tools,
    });
    const said = completion.choices[0]!.message.tool_calls!.map((call) => {
      if (call.type !== 'function') throw new Error(call.type);
      return { name: call.function.name, args: JSON.parse(call.function.arguments) as unknown };
    });
    expect(backToTools(said)).toStrictEqual(CALLS);
    expect(sentOf(JSON.parse(bodies[0]!) as object).map(({ schema }) => schema)).toStrictEqual(PUBLISHED_SCHEMAS);
  });

  it('runs the tools of a chat by itself until the model is done', async () => {
    const { fetch } = answeringFetch(({ messages, tools }) => {
      const isFirst = (messages as unknown[]).length === 1;
      const { name } = (tools as { function: { name: string } }[])[1]!.function;
      const call = { id: 'call-1', type: 'function', function: { name, arguments: '{"timeZone":"UTC"}' } };
      const message = isFirst ? { content: null, tool_calls: [call] } : { content: JSON.stringify(messages) };
      return { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }] };
    });
    const runner = openClient(fetch).chat.completions.runTools({
      model: 'm',
      messages: [{ role: 'user', content: 'Go.' }],
      tools: toOpenAiChat(sampleToolkit()).map(({ type, function: { name, ...rest } }) => ({
        type,
        function: {
          name,
          ...rest,
          parse: (text: string): unknown => JSON.parse(text),
          function: (args: unknown) => JSON.stringify(backToTools([{ name, args }])),
        },
      })),
    });
    expect(await runner.finalFunctionToolCallResult()).toBe('[{"tool":"clock.now","args":{"timeZone":"UTC"}}]');
  });

  it('sends the tools of a response, not strict, and its calls lead back', async () => {
    const sentOf = ({ tools }: { tools?: unknown }): SentTool[] =>
      (tools as { name: string; parameters: unknown }[]).map(({ name, parameters }) => ({ name, schema: parameters }));
    const { fetch, bodies } = answeringFetch((body) => ({
      id: 'r',
      object: 'response',
      created_at: 0,
      status: 'completed',
      output: callsByModel(sentOf(body)).map(({ name, args }, index) => ({
        id: `item-${index}`,
        call_id: `call-${index}`,
        type: 'function_call',
        name,
        arguments: JSON.stringify(args),
      })),
    }));
    const tools: OpenAI.Responses.FunctionTool[] = toOpenAiResponses(sampleToolkit());
    const response = await openClient(fetch).responses.create({ model: 'm', input: 'Go.', tools });
    const said = response.output.map((item) => {
      if (item.type !== 'function_call') throw new Error(item.type);
      return { name: item.name, args: JSON.parse(item.arguments) as unknown };
    });
    expect(backToTools(said)).toStrictEqual(CALLS);
    const body = JSON.parse(bodies[0]!) as { tools: { strict: unknown }[] };
    expect(sentOf(body).map(({ schema }) => schema)).toStrictEqual(PUBLISHED_SCHEMAS);
    expect(body.tools.map(({ strict }) => strict)).toStrictEqual([false, false, false, false]);
  });

  it('sends the same bytes for the same toolkit', async () => {
    const { fetch, bodies } = answeringFetch(() => ({ choices: [] }));
    const shuffled = [...sampleToolkit()].reverse();
    for (const tools of [sampleToolkit(), shuffled]) {
      await openClient(fetch).chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'Go.' }],
        tools: toOpenAiChat(tools),
      });
    }
    expect(bodies[1]).toBe(bodies[0]);
  });
});
