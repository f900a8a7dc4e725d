import { runWithAiSdk } from './ai-sdk.ts';
import { runWithLangChain } from './langchain.ts';
import { runWithOpenAiAgents } from './openai-agents.ts';
import { createScenario, STEPS, type Ran, type Scenario, type Style } from './scenario.ts';

export type RunAgent = (scenario: Scenario, style: Style) => Promise<Ran>;

export const FRAMEWORKS = {
  'the AI SDK': runWithAiSdk,
  'OpenAI Agents': runWithOpenAiAgents,
  LangChain: runWithLangChain,
} as const satisfies Readonly<Record<string, RunAgent>>;
export type Framework = keyof typeof FRAMEWORKS;

/** The verdicts on the same calls without any framework. */
export async function verdictsAlone(): Promise<string[]> {
  const scenario = createScenario();
  const tools = scenario.gate.openRun().wrapTools(scenario.definitions);
  for (const { tool, n } of STEPS) {
    const { execute } = tools.find(({ name }) => name === tool)!;
    await execute({ n }).catch(() => undefined);
  }
  return scenario.verdicts();
}

/** What an agent did, and whether it should have. */
export interface CheckedAgent {
  readonly verdicts: readonly string[];
  readonly problems: readonly string[];
}

/** Whether the model has read the error. The SDK of OpenAI Agents may replace the message of an error with a text of its own. */
function isErrorRead(framework: Framework, style: Style, text: string): boolean {
  const isFixed = framework === 'OpenAI Agents' && style !== 'definition';
  return text.includes(
    isFixed ? 'An error occurred while running the tool' : 'The operation was aborted due to timeout',
  );
}

export async function checkAgent(framework: Framework, style: Style): Promise<CheckedAgent> {
  const scenario = createScenario();
  const { finalText, read } = await FRAMEWORKS[framework](scenario, style);
  const text = read.join('\n');
  const ranOf = (tool: string) => scenario.ran.filter((one) => one.startsWith(tool));
  const facts: [boolean, string][] = [
    [finalText === 'I am done.', `it ended with ${finalText}`],
    [read.length === STEPS.length, `the model was answered ${read.length} times, not ${STEPS.length}`],
    [ranOf('status').length === 20, `status ran ${ranOf('status').length} times, not 20`],
    [ranOf('read_secret').length === 0, 'read_secret ran'],
    [ranOf('deploy').join() === 'deploy 101', `of the deploys ran: ${ranOf('deploy').join()}`],
    [scenario.resolutions.join() === 'allow-once,deny', `onResolution heard ${scenario.resolutions.join()}`],
    [text.includes('Secrets stay where they are.'), 'the model did not read the reason of the block'],
    [text.includes('You have called status 10 times'), 'the model did not read the advice'],
    [text.includes('This call did not run: status was called 20 times'), 'the model did not read that it loops'],
    [isErrorRead(framework, style, text), 'the model did not read that the tool failed'],
    [!text.includes('hunter2'), 'the model read the secret'],
  ];
  // Around a tool of OpenAI Agents the gate sees what the SDK makes of an error: a text without a category.
  const isText = framework === 'OpenAI Agents' && style === 'tool';
  const verdicts = (await scenario.verdicts()).map((line) =>
    isText ? line.replace('fetch_page TOOL_FAILED reported', 'fetch_page TOOL_THREW timeout') : line,
  );
  return { verdicts, problems: facts.flatMap(([holds, problem]) => (holds ? [] : [problem])) };
}
