import { entry } from './error-entry.ts';
import type { JsonObject } from '../../base/json.ts';

/** Errors that end calls whose tool needs input from its caller. */
export const INPUT_ERRORS = {
  INPUT_REQUIRED: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { tool: string; requests: JsonObject; problems?: JsonObject }) =>
      d.problems === undefined
        ? `${d.tool} needs an answer first: ${Object.keys(d.requests).join(', ')}.`
        : `${d.tool} cannot use the answer it was given: ${Object.keys(d.problems).join(', ')}.`,
    fix: 'Call it again with the same arguments and `input: { responses, state }`, or `--answers` and `--state`.',
  }),
  INPUT_UNAVAILABLE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { tool: string; kinds: string[] }) =>
      `${d.tool} needs something that this caller cannot give: ${d.kinds.join(', ')}.`,
    fix: 'Call it from a client that can be asked for it.',
  }),
  ANSWERS_TRANSFORMED: entry({
    stage: 'execute',
    kind: 'invalid',
    retry: 'never',
    say: (d: { tool: string; changes: string[] }) =>
      `${d.tool} did not get these answers: the schema of its form makes something else of them than what was shown (${d.changes.join('; ')}). Send them in the form that the schema makes of them.`,
    fix: 'Take the transform out of the schema of the form, and change the answer in `run`. See docs/tools.md.',
  }),
  INPUT_STALE: entry({
    stage: 'accept',
    kind: 'invalid',
    retry: 'never',
    say: (d: { callId: string }) => `The call ${d.callId} does not wait for an answer to this tool.`,
    fix: 'Call the tool without input, and answer what it asks for then.',
  }),
};
