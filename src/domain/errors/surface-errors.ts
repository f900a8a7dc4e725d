import { entry } from './error-entry.ts';

/** Errors that end calls of resources and prompts. */
export const SURFACE_ERRORS = {
  RESOURCE_UNKNOWN: entry({
    stage: 'accept',
    kind: 'unknown-tool',
    retry: 'never',
    say: (d: { uri: string }) => `There is no resource ${d.uri}.`,
    fix: 'List the resources. What the agent may not read is not among them.',
  }),
  PROMPT_UNKNOWN: entry({
    stage: 'accept',
    kind: 'unknown-tool',
    retry: 'never',
    say: (d: { name: string; several: string[] }) =>
      d.several.length === 0
        ? `There is no prompt "${d.name}".`
        : `Several prompts are called "${d.name}": ${d.several.join(', ')}.`,
    fix: 'List the prompts, and name one as module.name. What the agent may not use is not among them.',
  }),
};
