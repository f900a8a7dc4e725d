import * as ai from 'ai';
import { z } from 'zod';
import { guardedTools, STEPS, type Ran, type Scenario, type Style } from './scenario.ts';

/** `generateText` runs the loop. */
export async function runWithAiSdk(scenario: Scenario, style: Style): Promise<Ran> {
  const built = guardedTools(scenario, style, ({ description, execute }) =>
    ai.tool({ description, inputSchema: z.object({ n: z.number() }), execute }),
  );
  const tools = Object.fromEntries(scenario.definitions.map(({ name }, index) => [name, built[index]!]));
  const read: string[] = [];
  const { text } = await ai.generateText({
    model: scriptedModel(read),
    prompt: 'Go.',
    tools: tools as ai.ToolSet,
    stopWhen: ai.stepCountIs(STEPS.length + 5),
  });
  return { finalText: text, read };
}

/** A scripted model with only the members that the SDK uses. */
function scriptedModel(read: string[]): ai.LanguageModel {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  let at = 0;
  const model = {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: readonly unknown[] }) {
      if (at > 0) read.push(JSON.stringify(prompt.at(-1)));
      const step = STEPS[at];
      at += 1;
      const content =
        step === undefined
          ? [{ type: 'text', text: 'I am done.' }]
          : [
              {
                type: 'tool-call',
                toolCallId: `call-${at}`,
                toolName: step.tool,
                input: JSON.stringify({ n: step.n }),
              },
            ];
      const finishReason = { unified: step === undefined ? 'stop' : 'tool-calls', raw: undefined };
      return { content, finishReason, usage, warnings: [] };
    },
    doStream: () => Promise.reject(new Error('This model does not stream.')),
  };
  return model as unknown as ai.LanguageModel;
}
