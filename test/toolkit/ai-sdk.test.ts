import * as ai from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { makeAiSdkTools, toAiSdk } from '../../src/exports/toolkit.ts';
import { sampleToolkit } from '../support/sample-toolkit.ts';
import { backToTools, CALLS, callsByModel, PUBLISHED_SCHEMAS } from './model-call.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;

const usage: Generated['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Calls every tool that it was given, then answers with what it got. */
function openModel(): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: ({ prompt, tools = [] }): Promise<Generated> => {
      const isFirst = prompt.length === 1;
      const sent = tools.map((tool) => {
        if (tool.type !== 'function') throw new Error(tool.type);
        return { name: tool.name, schema: tool.inputSchema };
      });
      const calls = callsByModel(sent).map(({ name, args }, index) => ({
        type: 'tool-call' as const,
        toolCallId: `call-${index}`,
        toolName: name,
        input: JSON.stringify(args),
      }));
      return Promise.resolve({
        content: isFirst ? calls : [{ type: 'text', text: 'done' }],
        finishReason: { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined },
        usage,
        warnings: [],
      });
    },
  });
}

function schemasSentTo(model: MockLanguageModelV3): unknown[] {
  return model.doGenerateCalls[0]!.tools!.map((tool) => (tool.type === 'function' ? tool.inputSchema : tool.type));
}

describe('the AI SDK', () => {
  it('runs tools that were made with it, each under its id', async () => {
    const ran: { tool: string; args: JsonObject; toolCallId: string }[] = [];
    const tools: ai.ToolSet = makeAiSdkTools(ai, sampleToolkit(), (tool, args, { toolCallId }) => {
      ran.push({ tool, args, toolCallId });
      return Promise.resolve({ ran: tool });
    });
    const model = openModel();
    const { text, steps } = await ai.generateText({ model, prompt: 'Go.', tools, stopWhen: ai.stepCountIs(3) });
    expect(text).toBe('done');
    expect(ran).toStrictEqual(CALLS.map((call, index) => ({ ...call, toolCallId: `call-${index}` })));
    expect(steps[0]!.toolResults.map(({ output }) => output as unknown)).toStrictEqual(
      CALLS.map(({ tool }) => ({ ran: tool })),
    );
    expect(schemasSentTo(model)).toStrictEqual(PUBLISHED_SCHEMAS);
  });

  it('gives the model the message of a run that was rejected', async () => {
    const tools = makeAiSdkTools(ai, sampleToolkit(), () => Promise.reject(new Error('The policy says no.')));
    const { steps } = await ai.generateText({ model: openModel(), prompt: 'Go.', tools });
    const errors = steps[0]!.content.filter((part) => part.type === 'tool-error');
    expect(errors.map(({ error }) => (error as Error).message)).toStrictEqual(CALLS.map(() => 'The policy says no.'));
  });

  it('hands the abort signal of a generation to its runs', async () => {
    const controller = new AbortController();
    const tools = makeAiSdkTools(ai, sampleToolkit(), (_tool, _args, { abortSignal }) => {
      controller.abort();
      return Promise.resolve(abortSignal?.aborted);
    });
    const generated = ai.generateText({ model: openModel(), prompt: 'Go.', tools, abortSignal: controller.signal });
    const { steps } = await generated;
    expect(steps[0]!.toolResults.map(({ output }) => output as unknown)).toStrictEqual(CALLS.map(() => true));
  });

  it('takes the data as its own tools, and their calls lead back', async () => {
    const tools = Object.fromEntries(
      Object.entries(toAiSdk(sampleToolkit())).map(([name, { description, inputSchema }]) => [
        name,
        ai.tool({ description, inputSchema: ai.jsonSchema(inputSchema as ai.JSONSchema7) }),
      ]),
    ) as ai.ToolSet;
    const model = openModel();
    const { toolCalls } = await ai.generateText({ model, prompt: 'Go.', tools });
    const said = toolCalls.map(({ toolName, input }) => ({ name: toolName, args: input as unknown }));
    expect(backToTools(said)).toStrictEqual(CALLS);
    expect(schemasSentTo(model)).toStrictEqual(PUBLISHED_SCHEMAS);
  });
});
