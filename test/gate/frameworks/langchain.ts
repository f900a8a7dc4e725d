import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { tool, type StructuredToolInterface } from '@langchain/core/tools';
import { z } from 'zod';
import { guardedTools, STEPS, type Ran, type Scenario, type Style } from './scenario.ts';

/** The core of LangChain has no agent loop. This loop treats tool calls and errors as LangChain's agents do. */
export async function runWithLangChain(scenario: Scenario, style: Style): Promise<Ran> {
  const tools = guardedTools(
    scenario,
    style,
    ({ name, description, execute }) =>
      tool((input) => execute(input), {
        name,
        description,
        schema: z.object({ n: z.number() }),
      }) as StructuredToolInterface,
  );
  const read: string[] = [];
  for (const [index, { tool: name, n }] of STEPS.entries()) {
    const message = new AIMessage({ content: '', tool_calls: [{ id: `call-${index + 1}`, name, args: { n } }] });
    const [call] = message.tool_calls!;
    const answer = await invoke(
      tools.find((one) => one.name === name)!,
      { ...call!, type: 'tool_call' },
    );
    read.push(JSON.stringify(answer.content));
  }
  return { finalText: 'I am done.', read };
}

async function invoke(
  chosen: StructuredToolInterface,
  call: { id?: string; name: string; args: Record<string, unknown>; type: 'tool_call' },
): Promise<ToolMessage> {
  try {
    return (await chosen.invoke(call)) as ToolMessage;
  } catch (error) {
    const content = `Error: ${(error as Error).message}\n Please fix your mistakes.`;
    return new ToolMessage({ content, tool_call_id: call.id ?? '', name: call.name, status: 'error' });
  }
}
