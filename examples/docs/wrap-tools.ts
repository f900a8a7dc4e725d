import * as agents from '@openai/agents-core';
import * as ai from 'ai';
import type OpenAI from 'openai';
import {
  adviceOf,
  GateBlocked,
  loadHooks,
  type ApprovalDecision,
  type GateApprover,
  type GateQuestion,
  type HookPlugin,
} from 'sallyport/gate';
import { z } from 'zod';

// #region gate
import { createGate, defineHooks, type Gate } from 'sallyport/gate';

const guard = defineHooks({
  id: 'guard',
  hooks: [
    {
      id: 'no-localhost',
      on: 'before_tool_call',
      tools: ['search'],
      run: ({ arguments: { query } }) =>
        (query as string).includes('localhost') ? { block: true, reason: 'Only public pages.' } : undefined,
    },
  ],
});

export const gate = createGate({ hooks: [guard] });

/** When a conversation begins. Keep what it returns for as long as the conversation lasts. */
export function openConversation(id: string, user: string): Gate {
  return gate.openRun({ id, session: user, identity: { subject: user, agent: 'assistant' } });
}
// #endregion

// #region policy
export const ruled = createGate({
  identity: { subject: 'ada', agent: 'assistant' },
  policy: {
    rules: [
      {
        id: 'own-sites',
        verdict: 'deny',
        tools: ['web.*'],
        arguments: [{ at: '/url', not: true, host: ['example.com', '*.example.com'] }],
        reason: 'Only our own sites',
      },
      { id: 'payments', verdict: 'ask', tools: ['bank.pay'], ask: { severity: 'critical', timeoutMs: 600_000 } },
    ],
    loops: { default: { repeat: { warn: 5, block: 8 }, budgets: { callsPerRun: 200 } } },
  },
});
// #endregion

export function wrapRead(read: (url: string) => Promise<string>, run: Gate = ruled.openRun()) {
  // #region module
  const { fetch } = run.wrapTools(
    {
      fetch: ai.tool({
        description: 'Reads a page.',
        inputSchema: z.object({ url: z.string() }),
        execute: async ({ url }) => read(url),
      }),
    },
    { module: 'web', effect: 'read' },
  );
  // #endregion
  return fetch;
}

type Find = (query: string) => Promise<string[]>;

export async function generate(model: ai.LanguageModel, find: Find, run: Gate = openConversation('c-1', 'ada')) {
  // #region ai-sdk
  const search = ai.tool({
    description: 'Searches the web.',
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }) => find(query),
  });
  const answer = await ai.generateText({ model, prompt: 'Find it.', tools: run.wrapTools({ search }) });
  // #endregion
  return answer;
}

export async function runTools(openai: OpenAI, find: Find, run: Gate = openConversation('c-1', 'ada')) {
  // #region openai
  const search = run.wrapTool({
    type: 'function' as const,
    function: {
      name: 'search',
      description: 'Searches the web.',
      parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      parse: JSON.parse,
      function: ({ query }: { query: string }) => find(query),
    },
  });
  const messages = [{ role: 'user' as const, content: 'Find it.' }];
  const runner = openai.chat.completions.runTools({ model: 'gpt-5.2', messages, tools: [search] });
  // #endregion
  return runner.finalContent();
}

export async function runAgents(model: agents.Model, find: Find, run: Gate = openConversation('c-1', 'ada')) {
  // #region agents
  const search = run.wrapTool(
    agents.tool({
      name: 'search',
      description: 'Searches the web.',
      parameters: z.object({ query: z.string() }),
      execute: async ({ query }) => find(query),
    }),
  );
  const agent = new agents.Agent({ name: 'assistant', model, tools: [search] });
  const { finalOutput } = await new agents.Runner().run(agent, 'Find it.');
  // #endregion
  return finalOutput;
}

export async function generateWithAdvice(model: ai.LanguageModel, tools: ai.ToolSet, prompt = 'Find it.') {
  // #region advice
  const answer = await ai.generateText({
    model,
    prompt,
    tools,
    stopWhen: ai.stepCountIs(20),
    prepareStep: ({ steps }) => {
      const parts = steps.at(-1)?.content ?? [];
      const advice = parts.flatMap((part) => (part.type === 'tool-error' ? (adviceOf(part.error) ?? []) : []));
      return advice.length === 0 ? {} : { system: advice.join('\n') };
    },
  });
  // #endregion
  return answer;
}

export async function call(search: { execute(input: object): Promise<string[]> }): Promise<string> {
  // #region blocked
  try {
    return (await search.execute({ query: 'localhost' })).join('\n');
  } catch (error) {
    if (error instanceof GateBlocked) return `${error.code}: ${error.message}`;
    throw error;
  }
  // #endregion
}

interface Desk {
  post(question: GateQuestion): Promise<string>;
  answer(id: string, options: { signal: AbortSignal }): Promise<ApprovalDecision | null>;
}

export function askAtDesk(desk: Desk, plugin: HookPlugin): Gate {
  // #region approver
  const approver: GateApprover = {
    request: async (question) => ({ id: await desk.post(question) }),
    wait: async (id, { signal }) => ({ id, decision: await desk.answer(id, { signal }) }),
  };
  const asking = createGate({ hooks: [plugin], approver });
  // #endregion
  return asking;
}

export async function withFiles(): Promise<Gate> {
  // #region files
  const hooks = await loadHooks([
    { file: '/srv/hooks/guard.mjs' },
    { command: ['python3', '/srv/hooks/check.py'], on: 'before_tool_call', timeoutMs: 2000 },
  ]);
  const checked = createGate({ hooks });
  // #endregion
  return checked;
}

export function watching(hooks: readonly HookPlugin[]): Gate {
  // #region events
  const watched = createGate({
    hooks,
    onEvent: { kinds: ['loop.*', 'approval.*'], listener: (event) => console.log(event) },
  });
  // #endregion
  return watched;
}
