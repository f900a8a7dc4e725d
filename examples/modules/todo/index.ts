import { defineModule } from 'sallyport/tool';
import { z } from 'zod';

const id = z.string().min(1).max(64).describe('The id of the task, as add and list give it');
const due = z.iso.datetime({ offset: true }).describe('When it has to be done, e.g. 2030-01-31T09:00:00+01:00');
const title = z.string().trim().min(1).max(500);
const task = z.object({
  id: z.string(),
  title: z.string(),
  notes: z.string().optional(),
  due: z.string().optional(),
  state: z.enum(['open', 'done']),
  createdAt: z.string(),
  doneAt: z.string().optional(),
});

export default defineModule({
  id: 'todo',
  version: '1.0.0',
  description: 'The to-do list of the user. Nobody sees the list of somebody else.',
  needs: ['tasks'],
  // Runs in its own process. Services are reached from there in the same way.
  runner: 'process',
  tools: (tool) => ({
    add: tool({
      description: 'Puts a task on the list and gives its id.',
      effect: 'idempotent',
      normalises: true,
      input: z.object({ title, notes: z.string().max(10_000).optional(), due: due.optional() }),
      output: task,
      run: ({ title: named, notes, due: by }, { services: { tasks } }) =>
        tasks.create({ title: named, ...(notes && { notes }), ...(by && { due: by }) }),
    }),

    list: tool({
      description: 'Lists tasks, newest first.',
      effect: 'read',
      input: z.object({ state: z.enum(['open', 'done', 'all']).default('open') }),
      output: z.object({ tasks: z.array(task) }),
      run: async (args, { services: { tasks } }) => ({ tasks: await tasks.list(args) }),
    }),

    due: tool({
      description: 'Lists open tasks that are due by a time, or now, the most urgent first.',
      effect: 'read',
      input: z.object({ by: due.optional() }),
      output: z.object({ tasks: z.array(task) }),
      run: async ({ by }, { services: { tasks } }) => ({ tasks: await tasks.due(by === undefined ? {} : { by }) }),
    }),

    done: tool({
      description: 'Ticks a task off.',
      effect: 'idempotent',
      input: z.object({ id }),
      output: task,
      run: (args, { services: { tasks } }) => tasks.complete(args.id),
    }),

    change: tool({
      description: 'Changes a task. What is left out stays as it is; null removes notes or the time.',
      effect: 'idempotent',
      normalises: true,
      input: z.object({
        id,
        title: title.optional(),
        notes: z.string().nullable().optional(),
        due: due.nullable().optional(),
      }),
      output: task,
      run: ({ id: taskId, ...change }, { services: { tasks } }) => {
        const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
        return tasks.update({ id: taskId, ...given });
      },
    }),

    remove: tool({
      description: 'Deletes a task for good. Ask the user first unless they told you to.',
      effect: 'idempotent',
      input: z.object({ id }),
      output: z.object({ id: z.string(), existed: z.boolean() }),
      run: async (args, { services: { tasks } }) => ({ id: args.id, existed: await tasks.delete(args.id) }),
    }),
  }),
});
