#!/usr/bin/env node
// A hook that is a program: refuses texts that are too long, and asks a person about long ones. It needs no package, and works in
// coding agents that have PreToolUse hooks, too.
import { readFileSync } from 'node:fs';

const { tool_name: tool, tool_input: input } = JSON.parse(readFileSync(0, 'utf8'));
const characters = JSON.stringify(input).length;

if (characters > 100_000) {
  process.stderr.write(`${tool} takes at most 100,000 characters; this call has ${characters}.`);
  process.exit(2);
}
if (characters > 10_000) {
  const permissionDecisionReason = `${characters} characters are a lot for ${tool}.`;
  const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason };
  process.stdout.write(JSON.stringify({ hookSpecificOutput }));
}
