// Asks a command hook that never answers, until it is killed.
import { loadHooks } from '../../../dist/gate/hooks/load-hooks.js';
import { runBeforeHooks } from '../../../dist/gate/hooks/run-before-hooks.js';

const [guard, where] = process.argv.slice(2);
const set = await loadHooks([
  { command: [process.execPath, guard, 'hang', where], on: 'before_tool_call', timeoutMs: 600_000 },
]);
const log = { debug() {}, info() {}, warn() {}, error: console.error };
const call = {
  callId: 'c',
  session: 's',
  run: 'r',
  identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
  tool: { id: 'files.write', effect: 'unsafe', privileged: false },
  arguments: {},
  canonical: '{}',
};
await runBeforeHooks(set, call, { log, validate: () => [] });
