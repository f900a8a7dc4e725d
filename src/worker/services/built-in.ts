import { conversations } from './conversations/conversations.ts';
import type { ServiceDefinition } from './define-service.ts';
import { knowledge } from './knowledge/knowledge.ts';
import { models } from './models/models.ts';
import { tasks } from './tasks/tasks.ts';

/** The services that ship with the plane. */
export const BUILT_IN: Readonly<Record<string, ServiceDefinition>> = { conversations, knowledge, models, tasks };

/** Shipped services that need no configuration. They are available without an entry, and start when a module needs them. */
export const READY_MADE: readonly string[] = ['conversations', 'knowledge', 'tasks'];
