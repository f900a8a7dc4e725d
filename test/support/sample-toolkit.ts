import { z } from 'zod';
import { defineModule, tool } from '../../src/modules/authoring/define-module.ts';
import { declareModule, describeModule } from '../../src/modules/authoring/describe-module.ts';
import { jsonSchema } from '../../src/modules/authoring/plain-schema.ts';
import type { PublishedTool } from '../../src/domain/tool/catalog.ts';
import { buildToolkit } from '../../src/domain/tool/toolkit.ts';
import { catalogDigest } from '../../src/domain/tool/digest.ts';

const LONG = 'summarise-every-document-of-the-quarter-that-the-board-will-read';

const clock = defineModule({
  id: 'clock',
  version: '1.0.0',
  description: 'Tells the time.',
  tools: {
    now: tool({
      description: 'Gives the time.',
      effect: 'read',
      input: z.object({ timeZone: z.string().default('UTC'), form: z.enum(['iso', 'words']).optional() }),
      output: z.object({ time: z.string() }),
      run: () => ({ time: 'noon' }),
    }),
  },
});

/** A schema that refers to itself, and names that collide with others unless the form with a digest is used. */
const notes = defineModule({
  id: 'my__notes',
  version: '1.0.0',
  description: 'Notes.',
  tools: {
    add: tool({
      description: 'Adds a tree of "notes" – with an umlaut: ü.',
      input: jsonSchema({
        type: 'object',
        properties: { root: { $ref: '#/$defs/note' }, at: { type: ['string', 'null'], format: 'date-time' } },
        required: ['root'],
        additionalProperties: false,
        $defs: {
          note: {
            type: 'object',
            properties: { text: { type: 'string' }, below: { type: 'array', items: { $ref: '#/$defs/note' } } },
            required: ['text'],
          },
        },
      }),
      run: () => 'added',
    }),
    [LONG]: tool({
      description: 'Sums up.',
      effect: 'idempotent',
      input: z.object({}),
      output: z.array(z.string()),
      run: () => [],
    }),
  },
});

const zip = defineModule({
  id: '7zip',
  version: '1.0.0',
  description: 'Archives.',
  tools: {
    list: tool({ description: 'Lists.', effect: 'read', input: z.object({ file: z.string() }), run: () => [] }),
  },
});

/** The tools that one agent is shown, built from authors' modules with the production code. */
export function sampleToolkit(): readonly PublishedTool[] {
  const modules = [clock, notes, zip].map((module) => declareModule(describeModule(module), 'default'));
  const catalog = { sequence: 1, digest: catalogDigest(modules), modules };
  const policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };
  return buildToolkit(catalog, policy, { tenant: 'default', subject: 'ada', agent: 'main' }).tools;
}

export const SUMMARISE_ID = `my__notes.${LONG}`;
