import { fakeModel } from '@langchain/core/testing';
import { DynamicStructuredTool, tool, type StructuredTool } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { describe, expect, it } from 'vitest';
import { toLangChain, toOpenAiChat } from '../../src/exports/toolkit.ts';
import { sampleToolkit } from '../support/sample-toolkit.ts';
import { backToTools, CALLS, callsByModel } from './model-call.ts';

const fields = toLangChain(sampleToolkit());
const answer = (name: string, args: unknown): string => JSON.stringify(backToTools([{ name, args }])[0]);

describe('LangChain', () => {
  const made: readonly StructuredTool[] = fields.map((each) => tool((args: unknown) => answer(each.name, args), each));

  it('runs the calls of a model that the tools were bound to', async () => {
    const message = await fakeModel()
      .respondWithTools(callsByModel(fields))
      .bindTools([...made])
      .invoke('Go.');
    const byName = new Map(made.map((each) => [each.name, each]));
    const results = await Promise.all(
      message.tool_calls!.map(async (call) => {
        const result = (await byName.get(call.name)!.invoke({ ...call, type: 'tool_call' })) as { content: string };
        return JSON.parse(result.content) as unknown;
      }),
    );
    expect(results).toStrictEqual(CALLS);
  });

  it('refuses by itself what the schema refuses', async () => {
    const add = made[2]!;
    await expect(add.invoke({ root: { text: 'a', below: [{ text: 7 }] } })).rejects.toThrow(/schema/);
  });

  it('turns them into what OpenAI takes, the same as made directly', () => {
    expect(made.map((each) => convertToOpenAITool(each))).toStrictEqual(toOpenAiChat(sampleToolkit()));
  });

  it('takes them as fields of a DynamicStructuredTool', async () => {
    const [list] = fields.map(
      (each) => new DynamicStructuredTool({ ...each, func: (args) => Promise.resolve(answer(each.name, args)) }),
    );
    expect(await list!.invoke({ file: 'a.zip' })).toBe(JSON.stringify(CALLS[0]));
  });
});
