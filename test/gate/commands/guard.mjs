// A command hook that does what its first argument says.
import { readFileSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';

const [what, where] = process.argv.slice(2);
const input = what === 'deaf' ? undefined : JSON.parse(readFileSync(0, 'utf8'));
const say = (value) => process.stdout.write(typeof value === 'string' ? value : JSON.stringify(value));
const decide = (decision) => say({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } });

const ACTS = {
  allow: () => decide({ permissionDecision: 'allow', permissionDecisionReason: 'fine' }),
  deny: () => decide({ permissionDecision: 'deny', permissionDecisionReason: 'Not this one.' }),
  'deny-changed': () => decide({ permissionDecision: 'deny', updatedInput: { path: 'x' } }),
  ask: () => decide({ permissionDecision: 'ask', permissionDecisionReason: 'Look at it.' }),
  'ask-changed': () => decide({ permissionDecision: 'ask', updatedInput: { ...input.tool_input, mode: 'r' } }),
  change: () => decide({ updatedInput: { ...input.tool_input, path: '/changed' } }),
  'change-badly': () => decide({ permissionDecision: 'allow', updatedInput: { path: 7 } }),
  mask: () =>
    say({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        updatedToolOutput: { structured: { ...input.tool_response.structured, name: '***' } },
      },
    }),
  'quote-and-fail': () => ((process.exitCode = 1), process.stderr.write(JSON.stringify(input.tool_response))),
  'quote-and-block': () => ((process.exitCode = 2), process.stderr.write(JSON.stringify(input.tool_response))),
  'quote-only': () => say(JSON.stringify(input.tool_response).slice(1)),
  silent: () => {},
  nothing: () => say({}),
  'nothing-new': () => say({ hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: undefined } }),
  deaf: () => {},
  approve: () => say({ decision: 'approve', reason: 'old' }),
  block: () => say({ decision: 'block', reason: 'Old no.' }),
  stop: () => say({ continue: false, stopReason: 'Stop it all.' }),
  chatty: () => say({ suppressOutput: true, systemMessage: 'hi', continue: true }),
  echo: () => writeFileSync(where, JSON.stringify({ input, env: process.env, cwd: process.cwd() })),
  'exit-2': () => (
    (process.exitCode = 2),
    process.stderr.write('No: \u001b[31mred\nline two\u0000\n'),
    say('{"decision":"approve"}')
  ),
  'exit-2-silent': () => (process.exitCode = 2),
  'exit-1': () => ((process.exitCode = 1), process.stderr.write('password=hunter2 broken')),
  'bad-json': () => say('allowed!'),
  'two-answers': () => say('{"decision":"approve"}\n{"decision":"block"}'),
  'twice-a-key': () => say('{"decision":"block","decision":"approve"}'),
  'unknown-key': () => say({ decision: 'approve', allow: true }),
  'unknown-decision': () => decide({ permissionDecision: 'defer' }),
  'other-event': () => say({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'x' } }),
  async: () => say({ async: true }),
  flood: () => say(`{"reason":"${'x'.repeat(1024 * 1024)}"}`),
  'flood-on': () => {
    const write = () => process.stdout.write('x'.repeat(65_536), write);
    write();
  },
  killed: () => process.kill(process.pid, 'SIGKILL'),
  // The command and a process that it starts never end; it writes down both ids.
  hang: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    writeFileSync(where, JSON.stringify([process.pid, child.pid]));
    setInterval(() => {}, 1000);
  },
  // The command ends, but the process that it has started in the background does not.
  leave: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    writeFileSync(where, JSON.stringify([process.pid, child.pid]));
    child.unref();
    say({ decision: 'approve' });
    process.exit();
  },
};

ACTS[what]();
