import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import * as ai from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  createGate,
  defineHooks,
  GateBlocked,
  isWrapped,
  type AfterToolCall,
  type GateOptions,
} from '../../src/exports/gate.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { answeringFetch } from '../toolkit/model-call.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
const usage: Generated['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const ASKED = { city: 'Oslo', units: 'metric' };

/** Calls `weather` once, then answers with the last message that it was given. */
function callingModel(): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: ({ prompt }): Promise<Generated> => {
      const isFirst = prompt.length === 1;
      const call = {
        type: 'tool-call' as const,
        toolCallId: 'call-1',
        toolName: 'weather',
        input: JSON.stringify(ASKED),
      };
      return Promise.resolve({
        content: isFirst ? [call] : [{ type: 'text', text: JSON.stringify(prompt.at(-1)) }],
        finishReason: { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined },
        usage,
        warnings: [],
      });
    },
    doStream: () =>
      Promise.resolve({
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start', warnings: [] },
            { type: 'tool-call', toolCallId: 'call-1', toolName: 'weather', input: JSON.stringify(ASKED) },
            { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
          ],
        }),
      }),
  });
}

/** A gate with a hook that gives this answer to every call, and a hook that records how each call ended. */
function gateTo(answer: object | undefined, more: GateOptions = {}) {
  const ended: AfterToolCall[] = [];
  const gate = createGate({
    hooks: [
      defineHooks({
        id: 'guard',
        hooks: [
          { id: 'before', on: 'before_tool_call', run: async () => answer },
          { id: 'after', on: 'after_tool_call', run: (call) => void ended.push(call) },
        ],
      }),
    ],
    ...more,
  });
  return { gate, ended };
}
const TO_BERGEN = { patch: { city: 'Bergen' } };
const inputSchema = z.object({ city: z.string(), units: z.enum(['metric', 'imperial']) });

describe('tools of the AI SDK', () => {
  it('run with the arguments a hook made, in generateText, and observers are notified once', async () => {
    const { gate, ended } = gateTo(TO_BERGEN);
    const seen: unknown[] = [];
    const weather = ai.tool({
      description: 'The weather.',
      inputSchema,
      execute: (input, { toolCallId, messages }) => {
        seen.push(input, toolCallId, messages.length);
        return { degrees: 7 };
      },
      toModelOutput: ({ output }) => ({ type: 'text', value: `It is ${output.degrees}.` }),
    });
    const tools = gate.wrapTools({ weather });
    expect(isWrapped(tools.weather)).toBe(true);
    expect(tools.weather.inputSchema).toBe(inputSchema);
    const { text, steps } = await ai.generateText({
      model: callingModel(),
      prompt: 'Go.',
      tools,
      stopWhen: ai.stepCountIs(3),
    });
    expect(seen).toStrictEqual([{ city: 'Bergen', units: 'metric' }, 'call-1', 1]);
    expect(steps[0]!.toolResults).toMatchObject([{ output: { degrees: 7 } }]);
    expect(text).toContain('It is 7.');
    await gate.idle(1000);
    expect(ended).toMatchObject([
      {
        callId: 'call-1',
        tool: 'weather',
        arguments: { city: 'Bergen' },
        outcome: { kind: 'ok', structured: { degrees: 7 } },
      },
    ]);
  });

  it('give the model the reason of a block', async () => {
    const { gate, ended } = gateTo({ block: true, reason: 'The weather is secret.' });
    const weather = ai.tool({ inputSchema, execute: () => Promise.resolve(expect.fail('entered') as string) });
    const tools: ai.ToolSet = gate.wrapTools({ weather } as ai.ToolSet);
    const { steps, text } = await ai.generateText({
      model: callingModel(),
      prompt: 'Go.',
      tools,
      stopWhen: ai.stepCountIs(3),
    });
    const [error] = steps[0]!.content.filter((part) => part.type === 'tool-error');
    expect(error!.error).toBeInstanceOf(GateBlocked);
    expect(text).toContain('The weather is secret.');
    await gate.idle(1000);
    expect(ended).toMatchObject([{ outcome: { kind: 'blocked', executed: 'no' } }]);
  });

  it('block a rewrite that the schema of the SDK refuses', async () => {
    const { gate } = gateTo({ patch: { units: 'kelvin' } });
    const schemas = [
      inputSchema,
      ai.zodSchema(inputSchema),
      ai.jsonSchema(z.toJSONSchema(inputSchema) as Parameters<typeof ai.jsonSchema>[0]),
    ];
    for (const schema of schemas) {
      const weather = ai.dynamicTool({ inputSchema: schema, execute: () => Promise.resolve(expect.fail('entered')) });
      const { steps } = await ai.generateText({
        model: callingModel(),
        prompt: 'Go.',
        tools: gate.wrapTools({ weather }),
      });
      const [error] = steps[0]!.content.filter((part) => part.type === 'tool-error');
      expect(error!.error).toMatchObject({ code: 'HOOK_ARGUMENTS_INVALID' });
      expect(String(error!.error)).not.toContain('kelvin');
    }
  });

  it('stream their preliminary results, and get the abort signal', async () => {
    const { gate, ended } = gateTo(TO_BERGEN);
    const controller = new AbortController();
    const weather = ai.tool({
      inputSchema,
      async *execute({ city }, { abortSignal }) {
        yield { status: 'loading', city };
        yield { status: 'done', city, stopped: abortSignal?.aborted };
      },
    });
    const { fullStream } = ai.streamText({
      model: callingModel(),
      prompt: 'Go.',
      tools: gate.wrapTools({ weather }),
      abortSignal: controller.signal,
    });
    const results: unknown[] = [];
    for await (const part of fullStream)
      if (part.type === 'tool-result') results.push([part.preliminary ?? false, part.output]);
    expect(results).toStrictEqual([
      [true, { status: 'loading', city: 'Bergen' }],
      [true, { status: 'done', city: 'Bergen', stopped: false }],
      [false, { status: 'done', city: 'Bergen', stopped: false }],
    ]);
    await gate.idle(1000);
    expect(ended).toMatchObject([{ outcome: { kind: 'ok', structured: { status: 'done' } } }]);
  });

  it('without execute are returned unchanged', async () => {
    const { gate } = gateTo({ block: true });
    const weather = ai.dynamicTool({ inputSchema, execute: undefined as never });
    const tools = gate.wrapTools({ weather });
    expect(tools.weather).toBe(weather);
    const { toolCalls } = await ai.generateText({ model: callingModel(), prompt: 'Go.', tools });
    expect(toolCalls).toHaveLength(1);
  });
});

describe('loop detection around tools of the AI SDK', () => {
  const policy = { loops: { default: { repeat: { warn: 2, block: 4 }, breaker: 20 } } };
  const SAME = { sky: 'rain' };
  const readByModel = (prompt: readonly unknown[]): string => JSON.stringify(prompt.at(-1));

  /** Calls `weather` again and again, and records what it reads. */
  function stubbornModel(read: string[]): MockLanguageModelV3 {
    return new MockLanguageModelV3({
      doGenerate: ({ prompt }): Promise<Generated> => {
        if (prompt.length > 1) read.push(readByModel(prompt));
        return Promise.resolve({
          content: [
            {
              type: 'tool-call',
              toolCallId: `call-${prompt.length}`,
              toolName: 'weather',
              input: JSON.stringify(ASKED),
            },
          ],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        });
      },
    });
  }

  it.each<[string, object]>([
    ['text', { execute: () => 'rain' }],
    ['an object', { execute: () => ({ sky: 'rain' }) }],
    ['the same object each time', { execute: () => SAME }],
    ['a list', { execute: () => [{ sky: 'rain' }] }],
    [
      'an object of which it shows the model a part',
      {
        execute: () => ({ sky: 'rain', map: 'large' }),
        toModelOutput: ({ output }: { output: { sky: string } }) => ({ type: 'text', value: output.sky }),
      },
    ],
    [
      'content blocks',
      {
        execute: () => ({ sky: 'rain' }),
        toModelOutput: ({ output }: { output: { sky: string } }) =>
          Promise.resolve({ type: 'content', value: [{ type: 'text', text: output.sky }] }),
      },
    ],
    [
      'a stream',
      {
        async *execute() {
          yield 'looking';
          yield 'rain';
        },
      },
    ],
  ])('warns the model that got %s, then blocks', async (_what, definition) => {
    const read: string[] = [];
    const weather = { inputSchema, ...definition } as ai.Tool;
    const tools = createGate({ policy }).wrapTools({ weather });
    const { steps } = await ai.generateText({
      model: stubbornModel(read),
      prompt: 'Go.',
      tools,
      stopWhen: ai.stepCountIs(6),
    });
    expect(read).toHaveLength(5);
    expect(read.map((text) => text.includes('You have called weather 2 times'))).toStrictEqual([
      false,
      false,
      true,
      false,
      false,
    ]);
    for (const text of read.slice(0, 4)) expect(text).toContain('rain');
    expect(read[4]).toContain('This call did not run: weather was called 4 times');
    // Advice for the model changes what the program gets only if the tool returned text.
    const [plain, , advised] = steps.map(({ toolResults }) => toolResults[0]?.output as unknown);
    expect(typeof plain === 'string' ? plain : advised).toStrictEqual(plain);
  });
});

describe('function tools of OpenAI', () => {
  const call = { id: 'call-1', type: 'function', function: { name: 'weather', arguments: JSON.stringify(ASKED) } };
  const answering = () =>
    answeringFetch(({ messages }) => {
      const isFirst = (messages as JsonObject[]).length === 1;
      const message = isFirst ? { content: null, tool_calls: [call] } : { content: 'done' };
      return {
        id: 'c',
        choices: [
          { index: 0, finish_reason: isFirst ? 'tool_calls' : 'stop', message: { role: 'assistant', ...message } },
        ],
      };
    });
  const runTools = (fetch: typeof globalThis.fetch, tools: unknown[]) => {
    const openai = new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Go.' }];
    return openai.chat.completions.runTools({ model: 'gpt-5.2', messages, tools: tools as never });
  };
  const parameters = z.toJSONSchema(inputSchema) as never;

  it.each([
    [
      'with a parser',
      (run: (input: unknown) => unknown) => ({
        type: 'function' as const,
        function: { name: 'weather', description: 'x', parameters, parse: JSON.parse, function: run },
      }),
    ],
    [
      'with text',
      (run: (input: unknown) => unknown) => ({
        type: 'function' as const,
        function: { name: 'weather', description: 'x', parameters, function: (text: string) => run(JSON.parse(text)) },
      }),
    ],
    [
      'with zod',
      (run: (input: unknown) => unknown) =>
        zodFunction({ name: 'weather', parameters: inputSchema, function: (input) => run(input) as object }),
    ],
  ])('%s run with the arguments a hook made, in runTools', async (_how, make) => {
    const { gate, ended } = gateTo(TO_BERGEN);
    const seen: unknown[] = [];
    const tools = gate.wrapTools([make((input) => (seen.push(input), { degrees: 7 }))]);
    expect(tools.map(isWrapped)).toStrictEqual([true]);
    const { fetch, bodies } = answering();
    const runner = runTools(fetch, [...tools]);
    expect(await runner.finalContent()).toBe('done');
    expect(seen).toStrictEqual([{ city: 'Bergen', units: 'metric' }]);
    expect(JSON.parse(bodies[1]!)).toMatchObject({ messages: [{}, {}, { role: 'tool', content: '{"degrees":7}' }] });
    await gate.idle(1000);
    expect(ended).toMatchObject([{ tool: 'weather', arguments: { city: 'Bergen' }, outcome: { kind: 'ok' } }]);
  });

  it('that are blocked end the run with the reason', async () => {
    const { gate } = gateTo({ block: true, reason: 'The weather is secret.' });
    const tool = {
      type: 'function' as const,
      function: {
        name: 'weather',
        description: 'x',
        parameters,
        parse: JSON.parse,
        function: () => expect.fail('entered'),
      },
    };
    await expect(runTools(answering().fetch, [gate.wrapTool(tool)]).finalContent()).rejects.toThrow(
      'The weather is secret.',
    );
  });

  it('that are data only are returned as they are', () => {
    const { gate } = gateTo({ block: true });
    const chat = { type: 'function', function: { name: 'weather', parameters } };
    const responses = { type: 'function', name: 'weather', parameters, strict: true };
    expect(gate.wrapTools([chat, responses])).toStrictEqual([chat, responses]);
  });
});

describe('runnable tools of Anthropic', () => {
  it('run with the arguments a hook made, and give the model the reason of a block', async () => {
    const { fetch, bodies } = answeringFetch(({ messages }) => {
      // Later requests hold only what is new.
      const isFirst = !JSON.stringify(messages).includes('tool_result');
      return {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'x',
        stop_reason: isFirst ? 'tool_use' : 'end_turn',
        content: isFirst
          ? [{ type: 'tool_use', id: 'use-1', name: 'weather', input: ASKED }]
          : [{ type: 'text', text: 'done' }],
        usage: { input_tokens: 1, output_tokens: 1 },
      };
    });
    const anthropic = new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', fetch, maxRetries: 0 });
    const seen: unknown[] = [];
    const weather = betaZodTool({
      name: 'weather',
      description: 'x',
      inputSchema,
      run: (input) => (seen.push(input), 'rain'),
    });
    const ask = async (tool: typeof weather) =>
      anthropic.beta.messages.toolRunner({
        model: 'claude-opus-4-6',
        max_tokens: 100,
        max_iterations: 3,
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [tool],
      });
    const { gate, ended } = gateTo(TO_BERGEN);
    await ask(gate.wrapTool(weather));
    expect(seen).toStrictEqual([{ city: 'Bergen', units: 'metric' }]);
    await gate.idle(1000);
    expect(ended).toMatchObject([{ callId: 'use-1', outcome: { kind: 'ok' } }]);
    await ask(gateTo({ block: true, reason: 'The weather is secret.' }).gate.wrapTool(weather));
    expect(bodies.at(-1)).toContain('The weather is secret.');
    expect(seen).toHaveLength(1);
  });
});
