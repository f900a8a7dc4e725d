// The Vercel AI SDK: `generateText` runs the loop.
import * as ai from 'ai';
import { makeAiSdkTools, toolName } from 'sallyport/toolkit';

export async function runAgent({ tools, run, script, prompt }) {
  const { text } = await ai.generateText({
    model: scriptedModel(script),
    prompt,
    tools: makeAiSdkTools(ai, tools, (tool, args, { toolCallId }) => run(tool, args, toolCallId)),
    stopWhen: ai.stepCountIs(30),
  });
  return text;
}

/** In place of `openai('gpt-5.2')`. What the SDK asks of a model, and no more. */
function scriptedModel(script) {
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'buyer',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const { text, call } = script.next(lastResult(prompt));
      const content =
        call === undefined
          ? { type: 'text', text }
          : {
              type: 'tool-call',
              toolCallId: call.id,
              toolName: toolName(call.tool),
              input: JSON.stringify(call.args),
            };
      return {
        content: [content],
        finishReason: { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined },
        usage: { inputTokens: { total: 0 }, outputTokens: { total: 0 } },
        warnings: [],
      };
    },
    doStream() {
      throw new Error('This model does not stream.');
    },
  };
}

function lastResult(prompt) {
  const last = prompt.at(-1);
  return last.role === 'tool' ? last.content.at(-1).output.value : undefined;
}
