// The OpenAI Agents SDK: `Runner` runs the loop.
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents-core';
import { toolName, toolNames, toOpenAiResponses } from 'sallyport/toolkit';

// The SDK sends traces to OpenAI unless told otherwise; this example stays on the machine.
setTracingDisabled(true);

export async function runAgent({ tools, run, script, prompt }) {
  const { toolIdOf } = toolNames(tools);
  const agent = new Agent({
    name: 'buyer',
    model: scriptedModel(script),
    tools: toOpenAiResponses(tools).map(({ name, description, parameters, strict }) =>
      tool({
        name,
        description,
        parameters,
        strict,
        execute: (args, _context, { toolCall }) => run(toolIdOf(name), args, toolCall.callId),
      }),
    ),
  });
  const { finalOutput } = await new Runner().run(agent, prompt, { maxTurns: 30 });
  return finalOutput;
}

/** In place of `new OpenAIResponsesModel(client, 'gpt-5.2')`. What the SDK asks of a model, and no more. */
function scriptedModel(script) {
  return {
    async getResponse({ input }) {
      const { text, call } = script.next(lastResult(input));
      const item =
        call === undefined
          ? { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }
          : {
              type: 'function_call',
              callId: call.id,
              name: toolName(call.tool),
              arguments: JSON.stringify(call.args),
              status: 'completed',
            };
      return { usage: new Usage(), output: [item] };
    },
    getStreamedResponse() {
      throw new Error('This model does not stream.');
    },
  };
}

function lastResult(input) {
  const last = Array.isArray(input) ? input.at(-1) : undefined;
  return last?.type === 'function_call_result' ? last.output.text : undefined;
}
