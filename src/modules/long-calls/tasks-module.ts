import { describeModule, declareModule } from '../authoring/describe-module.ts';
import { defineModule } from '../authoring/define-module.ts';
import { jsonSchema } from '../authoring/plain-schema.ts';
import type { LoadedModule } from '../catalog/loaded-module.ts';
import type { JsonObject } from '../../base/json.ts';
import { TaskRunner, type TaskNeeds } from './task-runner.ts';

const MAX_WAIT_SECONDS = 60;
const SECOND = 1000;

const call: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'The id that was given when the call went on in the background',
};
const withCall = (more: JsonObject = {}) =>
  jsonSchema({ type: 'object', properties: { call, ...more }, required: ['call'], additionalProperties: false });

const notRunHere = (): never => {
  throw new Error('This tool is run by the plane itself.');
};

const definition = defineModule({
  id: 'tasks',
  version: '1.0.0',
  description: 'Calls that go on in the background: check them, wait for them, cancel them. Only your own.',
  tools: (tool) => ({
    check: tool({
      description: 'Tells how one of your background calls stands, and gives its result once it has finished.',
      effect: 'read',
      poll: { everyMs: SECOND },
      input: withCall(),
      run: notRunHere,
    }),
    wait: tool({
      description: `Waits up to ${MAX_WAIT_SECONDS} seconds for one of your background calls, and gives its result if it has finished by then.`,
      effect: 'read',
      poll: { everyMs: SECOND },
      // These limits are longer than `wait` itself waits, so its caller gets the tool's answer and not the id of one more pending call.
      limits: {
        waitMs: (MAX_WAIT_SECONDS + 5) * SECOND,
        timeoutMs: (MAX_WAIT_SECONDS + 10) * SECOND,
        concurrency: 32,
      },
      input: withCall({ seconds: { type: 'integer', minimum: 0, maximum: MAX_WAIT_SECONDS, default: 20 } }),
      run: notRunHere,
    }),
    cancel: tool({
      description: 'Cancels one of your background calls. What it has done already is not undone.',
      effect: 'idempotent',
      input: withCall(),
      run: notRunHere,
    }),
    list: tool({
      description: 'Lists your calls that have not finished yet.',
      effect: 'read',
      poll: { everyMs: SECOND },
      input: jsonSchema({ type: 'object', properties: {}, additionalProperties: false }),
      run: notRunHere,
    }),
  }),
});

/** The module `tasks`, ready to be served in a pool. It is published, selected, gated and audited like any other module, but has no file. */
export function createTasksModule(pool: string, needs: TaskNeeds): LoadedModule {
  const { runner } = describeModule(definition);
  return Object.freeze({
    declaration: declareModule(describeModule(definition), pool),
    runner,
    file: '',
    generation: 'built-in',
    setup: {},
    denialPatterns: {},
    builtIn: new TaskRunner(needs),
  });
}
