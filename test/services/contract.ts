import { describe } from 'vitest';
import { prepareScene, type Backend, type Scene } from './scene.ts';
import { describeConversations } from './topics/conversations.ts';
import { describeIsolation } from './topics/isolation.ts';
import { describeKnowledge } from './topics/knowledge.ts';
import { describeMeaning } from './topics/meaning.ts';
import { describeScopedStore } from './topics/scoped-store.ts';
import { describeTasks } from './topics/tasks.ts';

const TOPICS: Record<string, (scene: Scene) => void> = {
  'scoped store': describeScopedStore,
  isolation: describeIsolation,
  conversations: describeConversations,
  knowledge: describeKnowledge,
  tasks: describeTasks,
  'search by meaning': describeMeaning,
};

/** What the shipped services must do on every store. */
export function describeServicesContract(name: string, createBackend: () => Promise<Backend>): void {
  describe(`services on ${name}`, () => {
    const scene = prepareScene(createBackend);
    for (const [topic, register] of Object.entries(TOPICS)) {
      describe(`${topic}`, () => {
        register(scene);
      });
    }
  });
}
