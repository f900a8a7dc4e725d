import { entry } from './error-entry.ts';
import type { JsonObject } from './json.ts';

/** Endings of calls whose tool needs something of its caller. */
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
  INPUT_STALE: entry({
    stage: 'call',
    kind: 'invalid',
    retry: 'never',
    say: (d: { callId: string }) => `The call ${d.callId} does not wait for an answer to this tool.`,
    fix: 'Call the tool without input, and answer what it asks for then.',
  }),
};
