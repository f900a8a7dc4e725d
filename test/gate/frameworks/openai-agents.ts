import { Agent, Runner, setTracingDisabled, tool, Usage, type Model } from '@openai/agents-core';
import { z } from 'zod';
import { guardedTools, STEPS, type Ran, type Scenario, type Style } from './scenario.ts';

// Without this the SDK sends traces to OpenAI.
setTracingDisabled(true);

/** `Runner` runs the loop. */
export async function runWithOpenAiAgents(scenario: Scenario, style: Style): Promise<Ran> {
  // Newer versions give the model a fixed sentence for every error, unless `errorFunction` returns another text.
  const telling =
    style === 'definition' ? { errorFunction: (_context: unknown, error: unknown) => (error as Error).message } : {};
  const tools = guardedTools(scenario, style, ({ name, description, execute }) =>
    tool({
      name,
      description,
      parameters: z.object({ n: z.number() }),
      execute: (input) => execute(input),
      ...telling,
    }),
  );
  const read: string[] = [];
  const agent = new Agent({ name: 'scripted', model: scriptedModel(read), tools });
  const { finalOutput } = await new Runner().run(agent, 'Go.', { maxTurns: STEPS.length + 5 });
  return { finalText: String(finalOutput), read };
}

/** A scripted model with only the members that the SDK uses. */
function scriptedModel(read: string[]): Model {
  let at = 0;
  const model = {
    async getResponse({ input }: { input: string | readonly unknown[] }) {
      if (at > 0) read.push(JSON.stringify(input.at(-1)));
      const step = STEPS[at];
      at += 1;
      const item =
        step === undefined
          ? {
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: 'I am done.' }],
            }
          : {
              type: 'function_call',
              callId: `call-${at}`,
              name: step.tool,
              arguments: JSON.stringify({ n: step.n }),
              status: 'completed',
            };
      return { usage: new Usage(), output: [item] };
    },
    getStreamedResponse() {
      throw new Error('This model does not stream.');
    },
  };
  return model as unknown as Model;
}
