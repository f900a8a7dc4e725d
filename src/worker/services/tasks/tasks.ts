import { z } from 'zod';
import type { Task, TaskChange, TaskList } from '../../../domain/ports/tool-services.ts';
import { defineService, type ServiceCall, type ServiceHandle } from '../define-service.ts';
import { longText, parseArgument, parseServiceConfig, shortText } from '../parse-arguments.ts';
import { scopeOf } from '../scope-of.ts';
import { ServiceFailure } from '../service-failure.ts';
import { changeDocument } from '../storage/change-document.ts';
import { storageHealth } from '../storage/storage-health.ts';
import type { ScopedStore, StoredDocument } from '../storage/scoped-store.ts';

const TASKS = 'tasks';
const MAX_LISTED = 500;

const config = z.strictObject({
  /** Max tasks of one subject, including done ones. */
  maxTasks: z.int().min(1).max(100_000).default(5000),
});
const title = shortText(500);
const notes = longText(16 * 1024);
const moment = z.iso.datetime({ offset: true, error: 'expected a time like 2030-01-31T09:00:00Z' });
const limit = z.int().min(1).max(MAX_LISTED).default(100);
const id = z.string().min(1).max(64);
const newTask = z.strictObject({
  title,
  notes: notes.optional(),
  due: moment.optional(),
  key: shortText(200).optional(),
});
const taskChange = z.strictObject({
  id,
  title: title.optional(),
  notes: notes.nullable().optional(),
  due: moment.nullable().optional(),
  state: z.enum(['open', 'done']).optional(),
});
const listQuery = z.strictObject({ state: z.enum(['open', 'done', 'all']).default('open'), limit });
const dueQuery = z.strictObject({ by: moment.optional(), limit });

type Body = Omit<Task, 'id' | 'createdAt'>;

/** The to-do list of a subject. */
export const tasks = defineService({
  methods: ['create', 'update', 'complete', 'list', 'due', 'delete'],
  async start({ name, config: given, storage }) {
    const { maxTasks } = parseServiceConfig(config, given, name);
    const store = await storage();
    return {
      open: (call) => openTasks(call, store, maxTasks) as unknown as ServiceHandle,
      health: () => storageHealth(store),
    };
  },
});

function openTasks(call: ServiceCall, store: ScopedStore, maxTasks: number): TaskList {
  const scope = scopeOf('subject', call.identity);

  async function update(given: TaskChange): Promise<Task> {
    const { id: taskId, ...change } = parseArgument(taskChange, given, 'tasks.update');
    const now = await store.now();
    const changed = await changeDocument(store, scope, { collection: TASKS, id: taskId }, (document) => {
      const body = applyChange(JSON.parse(document.body) as Body, change, now);
      return { body: JSON.stringify(body), keepOrder: true, labels: [body.state] };
    });
    if (changed === undefined) throw new ServiceFailure('TASK_UNKNOWN', `There is no task ${taskId}.`);
    return toTask(changed);
  }

  return {
    async create(given) {
      const { key = call.nextKey(), ...task } = parseArgument(newTask, given, 'tasks.create');
      const body: Body = {
        title: task.title,
        state: 'open',
        ...(task.notes === undefined ? {} : { notes: task.notes }),
        ...(task.due === undefined ? {} : { due: iso(task.due) }),
      };
      const text = JSON.stringify(body);
      const put = { collection: TASKS, key, body: text, labels: ['open'], most: maxTasks };
      const answer = await store.commit(scope, { puts: [put] });
      if (answer.kind === 'full') {
        throw new ServiceFailure('TASKS_FULL', `There are ${maxTasks} tasks; delete some first.`);
      }
      if (answer.kind === 'committed') return toTask({ ...answer.documents[0]!, body: text });
      const [before] = answer.kind === 'exists' ? await store.read(scope, TASKS, [answer.id]) : [];
      if (before === undefined) throw new ServiceFailure('SERVICE_BUSY', 'The tasks changed meanwhile; try again.');
      return toTask(before);
    },
    update,
    complete: (taskId) => update({ id: parseArgument(id, taskId, 'tasks.complete'), state: 'done' }),
    async list(given = {}) {
      const { state, limit } = parseArgument(listQuery, given, 'tasks.list');
      const query = { limit, ...(state === 'all' ? {} : { label: state }) };
      return (await store.list(scope, TASKS, query)).map(toTask);
    },
    async due(given = {}) {
      const query = parseArgument(dueQuery, given, 'tasks.due');
      const by = query.by === undefined ? await store.now() : Date.parse(query.by);
      const open = await store.list(scope, TASKS, { label: 'open', limit: maxTasks });
      return open
        .map(toTask)
        .filter(({ due }) => due !== undefined && Date.parse(due) <= by)
        .sort((a, b) => Date.parse(a.due!) - Date.parse(b.due!))
        .slice(0, query.limit);
    },
    async delete(taskId) {
      const task = parseArgument(id, taskId, 'tasks.delete');
      const target = { collection: TASKS, id: task };
      return (await store.commit(scope, { checks: [target], deletes: [target] })).kind === 'committed';
    },
  };
}

function applyChange(body: Body, change: Omit<z.output<typeof taskChange>, 'id'>, now: number): Body {
  const state = change.state ?? body.state;
  const shownNotes = change.notes === undefined ? body.notes : (change.notes ?? undefined);
  const due = change.due === undefined ? body.due : change.due === null ? undefined : iso(change.due);
  const doneAt = state === 'open' ? undefined : (body.doneAt ?? new Date(now).toISOString());
  return {
    title: change.title ?? body.title,
    state,
    ...(shownNotes === undefined ? {} : { notes: shownNotes }),
    ...(due === undefined ? {} : { due }),
    ...(doneAt === undefined ? {} : { doneAt }),
  };
}

function iso(time: string): string {
  return new Date(time).toISOString();
}

function toTask({ id: taskId, at, body }: Pick<StoredDocument, 'id' | 'at' | 'body'>): Task {
  return { id: taskId, ...(JSON.parse(body) as Body), createdAt: new Date(at).toISOString() };
}
