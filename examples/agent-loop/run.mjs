// node examples/agent-loop/run.mjs ai-sdk
// node examples/agent-loop/run.mjs openai-agents
import { answerQuestions } from './person.mjs';
import { startPlane } from './plane.mjs';
import { createRunner } from './run-call.mjs';
import { buyer, playScript } from './script.mjs';

const AGENTS = { 'ai-sdk': () => import('./ai-sdk.mjs'), 'openai-agents': () => import('./openai-agents.mjs') };
const PROMPT = 'We need three good lamps. Order them, and tell me when they come.';

const load = Object.hasOwn(AGENTS, process.argv[2] ?? '') ? AGENTS[process.argv[2]] : undefined;
if (load === undefined) {
  console.error(`Say which: node examples/agent-loop/run.mjs ${Object.keys(AGENTS).join('|')}`);
  process.exit(2);
}

const say = (who, text) => console.log(`${who.padEnd(7)} ${text}`);

async function work(client) {
  // The trusted side says who the calls are made for. Nothing the model writes can change it.
  const session = await client.openSession({ subject: 'ada', agent: 'buyer' });
  const { tools } = await client.toolkit(session);
  say('plane', `buyer has ${tools.map(({ tool }) => tool.id).join(', ')}`);
  say('ada', PROMPT);
  const { runAgent } = await load();
  const run = createRunner(client, session, say);
  say('agent', await runAgent({ tools, run, script: playScript(buyer()), prompt: PROMPT }));
}

// If the plane does not start, it has said why on standard error.
const plane = await startPlane().catch(() => process.exit(1));
try {
  // Two programs in one: the agent, and where people are asked. In real life they are apart.
  const [agent, office] = [await plane.connect(), await plane.connect()];
  const done = new AbortController();
  const answering = answerQuestions(office, { signal: done.signal, say });
  await Promise.all([work(agent).finally(() => done.abort()), answering]);
  await Promise.all([agent.close(), office.close()]);
} finally {
  await plane.stop();
}
